"""The three families of error, and the exit code each one ends the program with."""

from __future__ import annotations


class BreakfixError(Exception):
    """Anything we raise on purpose. `exit_code` is what the command line ends with."""

    exit_code = 3


class AuthorError(BreakfixError):
    """The input is wrong (a document, a bundle, a flag): whoever wrote it can mend it."""

    exit_code = 1


class HostError(BreakfixError):
    """The machine lacks something. The message says what, and `remedy` how to get it."""

    exit_code = 2

    def __init__(self, message: str, *, remedy: str) -> None:
        super().__init__(message)
        self.remedy = remedy


class InternalError(BreakfixError):
    """A fault of ours. The command line asks the user to report it."""
