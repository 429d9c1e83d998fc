"""Ansible's report of a play: one line of JSON for each task that failed. Loaded by Ansible, never imported."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: outcome
type: stdout
short_description: failed tasks as JSON
description: Into the file named by $BREAKFIX_RESULT.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "outcome"

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        if not ignore_errors:
            self._note(result.task.get_name(), result.result)

    def v2_runner_on_unreachable(self, result: Any) -> None:
        self._note(result.task.get_name(), result.result)

    def _note(self, task: str, outcome: dict[str, Any]) -> None:
        message = outcome.get("msg") or outcome.get("stderr") or str(outcome)
        results = [one for one in outcome.get("results", ()) if one.get("failed")]
        if results:
            message = results[0].get("msg") or message
        said = outcome.get("stderr")
        if said and said not in str(message):
            message = f"{message}: {said}"
        with open(os.environ["BREAKFIX_RESULT"], "a", encoding="utf-8") as file:
            file.write(json.dumps({"task": task, "message": str(message)}) + "\n")
