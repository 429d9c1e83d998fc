"""What systemctl prints and does, verb by verb; `commands/systemctl.py` reads the command line."""
