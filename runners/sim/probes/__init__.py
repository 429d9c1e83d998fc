"""The simulated server's probes."""
