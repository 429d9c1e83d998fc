"""The simulated server's commands."""
