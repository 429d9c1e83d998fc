"""Tasks to an Ansible playbook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from compiler.lower.yaml_text import Unsafe, write
from scenario_dsl.model import Task
from scenario_dsl.realise.literals import unescape
from scenario_dsl.values import Value
from scenario_dsl.worlds import ResolvedFault


def inject_tasks(faults: Sequence[ResolvedFault]) -> tuple[Task, ...]:
    """What breaks a world: every fault's tasks, in the order in which the scenario names the faults."""
    return tuple(task for fault in faults for task in fault.inject)


def revert_tasks(faults: Sequence[ResolvedFault]) -> tuple[Task, ...]:
    """What takes the faults away again, the last one first."""
    return tuple(task for fault in reversed(faults) for task in fault.revert)


def playbook(name: str, tasks: Iterable[Task]) -> bytes:
    """One play of these tasks, on whatever inventory it is given, as root."""
    lowered = [_task(task) for task in tasks]
    return write([{"name": _value(name), "hosts": "all", "gather_facts": False, "become": True, "tasks": lowered}])


def _task(task: Task) -> dict[str, object]:
    lowered: dict[str, object] = {
        "name": _value(task.name),
        f"ansible.builtin.{task.module}": {key: _value(value) for key, value in task.arguments.items()},
    }
    if task.when is not None:
        lowered["when"] = task.when
    if task.loop is not None:
        lowered["loop"] = _value(task.loop)
    if task.register is not None:
        lowered["register"] = task.register
    if task.delegate_to is not None:
        lowered["delegate_to"] = task.delegate_to
    if task.ignore_errors:
        lowered["ignore_errors"] = True
    return lowered


def _value(value: Value) -> object:
    """Plain text with braces is marked so that Ansible leaves it alone; expressions of the task's own stay."""
    if isinstance(value, str):
        plain = unescape(value)
        return value if plain is None or plain == value else Unsafe(plain)
    if isinstance(value, tuple):
        return [_value(item) for item in value]
    if isinstance(value, dict):
        return {key: _value(item) for key, item in value.items()}
    return value
