"""The simulated server's shell."""
