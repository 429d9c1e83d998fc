"""What a job on a unit came to, and how systemctl words it."""

from __future__ import annotations

from typing import NamedTuple

_REASONS = {
    "resources": "of unavailable resources or another system error",
    "protocol": "the service did not take the steps required by its unit configuration",
    "timeout": "a timeout was exceeded",
    "exit-code": "the control process exited with error code",
    "signal": "a fatal signal was delivered to the control process",
    "core-dump": "a fatal signal was delivered causing the control process to dump core",
    "oom-kill": "a fatal signal was delivered to the control process",
    "start-limit-hit": "start of the service was attempted too often",
}


class JobOutcome(NamedTuple):
    """`result`: done, failed, dependency, skipped, canceled, or waiting: for the service to say that it is ready.

    `reason`: the unit's result when it failed.
    """

    unit: str
    result: str = "done"
    reason: str = ""

    @property
    def ok(self) -> bool:
        return self.result in ("done", "skipped", "waiting")

    @property
    def message(self) -> str:
        """What systemctl prints on standard error for a job that failed; "" for one that did not."""
        if self.ok:
            return ""
        if self.result == "dependency":
            return f"A dependency job for {self.unit} failed. See 'journalctl -xe' for details."
        if self.result == "canceled":
            return f"Job for {self.unit} canceled."
        reason = _REASONS.get(self.reason)
        because = f" because {reason}." if reason else "."
        text = (
            f"Job for {self.unit} failed{because}\n"
            f'See "systemctl status {self.unit}" and "journalctl -xeu {self.unit}" for details.'
        )
        if self.reason == "start-limit-hit":
            text += (
                f'\nTo force a start use "systemctl reset-failed {self.unit}"\n'
                f'followed by "systemctl start {self.unit}" again.'
            )
        return text


class UnitError(Exception):
    """The manager refused. `text` stands after "Failed to start x.service: "; `exit_code` is systemctl's."""

    def __init__(self, unit: str, text: str, exit_code: int = 1) -> None:
        super().__init__(text)
        self.unit = unit
        self.text = text
        self.exit_code = exit_code
