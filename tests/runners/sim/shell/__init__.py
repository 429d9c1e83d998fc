"""The shell of the simulated server."""
