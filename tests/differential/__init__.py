"""The simulated shell and text tools beside the real ones of this machine."""
