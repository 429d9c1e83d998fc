"""What one command may use, counted in steps so that a run means the same on any machine."""

from __future__ import annotations


class BudgetExceeded(BaseException):
    """The command used up its steps or memory: the shell's caller ends it as a time-out.

    Not an Exception, so that no command's own error handling swallows it.
    """


class Budget:
    """Counts down. One step is about a microsecond of work: a simple command costs tens, a line of text one."""

    __slots__ = ("left",)

    def __init__(self, steps: int) -> None:
        self.left = steps

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise BudgetExceeded
