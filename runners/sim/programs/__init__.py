"""The simulated server's programs."""
