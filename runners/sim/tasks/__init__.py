"""The simulated server's tasks."""
