"""A fault's tasks with its arguments put in; what only Ansible can know stays for Ansible."""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

from scenario_dsl.model import Parameter, Task
from scenario_dsl.modules import MODULES
from scenario_dsl.realise.arguments import bound, meaning
from scenario_dsl.realise.literals import escape, escape_all, is_template
from scenario_dsl.realise.rendering import condition, for_ansible, mentions
from scenario_dsl.realise.texts import Scope
from scenario_dsl.values import Route, Value

_LOOP = Parameter(name="loop", type="list of string", doc="")


def make_tasks(scope: Scope, tasks: Sequence[Task]) -> tuple[Task, ...]:
    """Those that run: a task whose `when` is false for these arguments is left out."""
    registered: frozenset[str] = frozenset()
    made: list[Task] = []
    for task in tasks:
        runtime = registered | {"item"} if task.loop is not None else registered
        when = _decided(scope, task, runtime)
        if when is not False:
            made.append(_task(scope, task, when, registered, runtime))
        if task.register is not None:
            registered |= {task.register}
    return tuple(made)


def _decided(scope: Scope, task: Task, runtime: AbstractSet[str]) -> bool | str:
    if task.when is not None:
        with scope.reporting((*task.at, "when")):
            return condition(task.when, scope.names, runtime)
    return True


def _task(scope: Scope, task: Task, when: bool | str, registered: AbstractSet[str], runtime: AbstractSet[str]) -> Task:
    return Task(
        name=escape(scope.text((*task.at, "name"), task.name)),
        module=task.module,
        arguments=_arguments(scope, task, runtime),
        when=when if isinstance(when, str) else None,
        loop=_loop(scope, (*task.at, "loop"), task.loop, registered),
        register=task.register,
        ignore_errors=task.ignore_errors,
        delegate_to=None
        if task.delegate_to is None
        else scope.text((*task.at, "delegate_to"), task.delegate_to) or None,
    )


def _arguments(scope: Scope, task: Task, runtime: AbstractSet[str]) -> dict[str, Value]:
    route = (*task.at, task.module)
    later: dict[str, Value] = {}
    now: dict[str, Value] = {}
    for name, value in task.arguments.items():
        with scope.reporting((*route, name)):
            if mentions(value, runtime):
                later[name] = for_ansible(value, scope.names, runtime)
            else:
                now[name] = value
    declared = [each for each in MODULES[task.module].parameters if each.name not in later]
    meant = bound(scope.document, route, declared, scope.arguments(route, now), scope.found)
    return {name: later[name] if name in later else escape_all(meant.get(name)) for name in task.arguments}


def _loop(
    scope: Scope, route: Route, loop: tuple[Value, ...] | str | None, registered: AbstractSet[str]
) -> tuple[Value, ...] | str | None:
    with scope.reporting(route):
        made = None if loop is None else for_ansible(loop, scope.names, registered)
        if made is None or isinstance(made, tuple) or (isinstance(made, str) and is_template(made)):
            return made
        meaning(scope.document, route, _LOOP, made, scope.found)
    return None
