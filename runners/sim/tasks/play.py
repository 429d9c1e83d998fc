"""Playing tasks: templates, `when`, `loop`, `register`, `ignore_errors`, and the module that does the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from runners.sim.budget import Budget, BudgetExceeded
from runners.sim.machine import Machine
from runners.sim.tasks import (
    blockinfile,
    command,
    copy,
    cron,
    file,
    group,
    iptables,
    lineinfile,
    replace,
    service,
    shell,
    slurp,
    stat,
    systemd,
    user,
    wait_for,
)
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.result import ModuleFailure, TaskResult
from runners.sim.tasks.templating import holds, render
from runners.worlds import TaskFailure
from scenario_dsl.model import Task
from scenario_dsl.values import Value

Run = Callable[[Machine, Arguments], TaskResult]

STEPS = 20_000_000
"""What one task may spend, in steps of the machine's budget."""


_SOURCES = (
    blockinfile, command, copy, cron, file, group, iptables, lineinfile, replace, service, shell, slurp, stat,
    systemd, user, wait_for,
)  # fmt: skip

MODULES: Mapping[str, Run] = MappingProxyType({source.__name__.rsplit(".", 1)[-1]: source.run for source in _SOURCES})
"""What each module of the language does, by short name; which arguments it takes, the language says."""


def apply(machine: Machine, task: Task, variables: Mapping[str, Value]) -> TaskResult:
    """Do one task, its loop included. Never raises: a task that fails says so in its result."""
    try:
        if task.loop is None:
            return _once(machine, task, variables)
        items = render(task.loop, variables)
        if not isinstance(items, tuple):
            raise ModuleFailure(f"Invalid data passed to 'loop', it requires a list, got this instead: {items}.")
    except ModuleFailure as failure:
        return TaskResult(failed=True, msg=failure.msg, values=failure.values)
    results = []
    for item in items:
        result = _once(machine, task, {**variables, "item": item})
        results.append((item, result))
    done: tuple[Value, ...] = tuple(
        {**result.registered(), "item": item, "ansible_loop_var": "item"} for item, result in results
    )
    failed = any(result.failed for _, result in results)
    return TaskResult(
        changed=any(result.changed for _, result in results),
        failed=failed,
        skipped=all(result.skipped for _, result in results),
        msg="One or more items failed" if failed else "All items completed",
        values={"results": done},
    )


def play(machine: Machine, tasks: Sequence[Task], variables: Mapping[str, Value] | None = None) -> TaskFailure | None:
    """Do tasks in order until one fails. Registered results live for this play."""
    known = dict(variables or {})
    for task in tasks:
        result = apply(machine, task, known)
        if task.register is not None:
            known[task.register] = result.registered()
        if result.failed and not task.ignore_errors:
            return TaskFailure(task=task.name, message=_reason(result))
    return None


def _reason(result: TaskResult) -> str:
    """The message of a failure; a loop's is that of its first failed item."""
    results = result.values.get("results")
    if isinstance(results, tuple):
        for item in results:
            if isinstance(item, Mapping) and item.get("failed"):
                return f"{item.get('msg')} (item={item.get('item')})"
    stderr = result.values.get("stderr")
    return f"{result.msg}: {stderr}" if isinstance(stderr, str) and stderr else result.msg


def _once(machine: Machine, task: Task, variables: Mapping[str, Value]) -> TaskResult:
    spent = machine.budget
    machine.budget = Budget(STEPS)
    try:
        if task.when is not None and not holds(task.when, variables):
            return TaskResult(
                skipped=True,
                values={"skip_reason": "Conditional result was False", "false_condition": task.when},
            )
        name = task.module.removeprefix("ansible.builtin.").removeprefix("ansible.posix.")
        run = MODULES.get(name)
        if run is None:
            raise ModuleFailure(f"couldn't resolve module/action '{task.module}'.")
        given = render(task.arguments, variables)
        assert isinstance(given, Mapping)
        return run(machine, Arguments(name, given))
    except ModuleFailure as failure:
        return TaskResult(failed=True, msg=failure.msg, values=failure.values)
    except BudgetExceeded:
        return TaskResult(failed=True, msg="the task took too long")
    except OSError as error:
        return TaskResult(failed=True, msg=f"{error.strerror}: {error.filename}")
    finally:
        machine.budget = spent
