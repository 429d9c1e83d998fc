"""The command line, one module for each command. `breakfix.cli.main` loads only the one that is asked for."""

from breakfix.cli.main import main

__all__ = ["main"]
