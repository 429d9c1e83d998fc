"""The face: the command line and the short public API. Nothing imports it."""
