"""How the parts of the shell's interpreter talk to each other: what unwinds it, and from how far."""

from __future__ import annotations


class Unwind(Exception):  # noqa: N818 (control flow, not errors)
    """Base of everything that leaves the command being run without being a failure of ours."""


class ShellExit(Unwind):
    """`exit`, `set -e`, a fatal error: this shell process ends."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class Return(Unwind):
    """`return` from a function or a sourced file."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class LoopControl(Unwind):
    """`break` or `continue`, `levels` loops out."""

    def __init__(self, kind: str, levels: int) -> None:
        super().__init__(kind, levels)
        self.kind = kind
        self.levels = levels


class Abandon(Unwind):
    """The line cannot go on (a bad expansion): bash returns to reading commands. `fatal`: a script ends there."""

    def __init__(self, status: int = 1, *, fatal: bool = False) -> None:
        super().__init__(status)
        self.status = status
        self.fatal = fatal


class ExpansionError(Exception):
    """An expansion failed; the text is the message behind `bash: `, `dash` what dash says instead."""

    def __init__(self, message: str, *, fatal: bool = False, status: int = 1, dash: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.dash = message if dash is None else dash
        self.fatal = fatal
        self.status = status
