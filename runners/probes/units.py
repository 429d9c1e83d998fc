"""unit and limit: what systemd keeps of a unit, and what its main process may use."""

from __future__ import annotations

from typing import NamedTuple

from runners.probes.arguments import Arguments
from runners.probes.seen import Seen, nothing_held, observed
from runners.worlds import Observation

_STARTS = ("enabled", "enabled-runtime", "alias")
"""States of a unit's file with which it starts at boot, systemctl(1). `linked` is not among them: its file is only
known."""


class Main(NamedTuple):
    """A unit's main process. state: R, S, D, T or Z; genuine: it is the program that it is on the healthy machine."""

    name: str
    state: str
    genuine: bool


class UnitLook(NamedTuple):
    """name: in full; active: its active state; has_main: it has a main process while healthy; restarts: by systemd.

    Looked at only where it is asked for: main, of a unit that is to be active; file, what `systemctl is-enabled` says;
    masked.
    """

    name: str
    active: str
    has_main: bool
    main: Main | None
    file: str
    masked: bool
    restarts: int


def judge_unit(look: UnitLook, arguments: Arguments) -> Observation:
    """`state: active` of a service wants a living main process that is the program it is on the healthy machine: a unit
    whose ExecStart became `sleep infinity` is active for systemd, and not for us."""
    seen, name, wanted = Seen(), look.name, arguments.text("state")
    if wanted == "active":
        problem = _pretended(look)
        seen.expect(look.active == "active" and not problem, f"{name} is {look.active}{problem}")
    elif wanted is not None:
        seen.expect(look.active == wanted, f"{name} is {look.active}")
    enabled, masked = arguments.flag("enabled"), arguments.flag("masked")
    if enabled is not None:
        seen.expect((look.file in _STARTS) is enabled, f"{name} is {look.file or 'not there'}")
    if masked is not None:
        seen.expect(look.masked is masked, f"{name} is {'masked' if look.masked else 'not masked'}")
    most = arguments.integer("restarts_at_most")
    if most is not None:
        seen.expect(look.restarts <= most, f"{name} was restarted {look.restarts} times")
    return seen.observation()


def _pretended(look: UnitLook) -> str:
    """Why an active unit is not the real thing; "" when it is."""
    if not look.has_main:
        return ""
    if look.main is None or look.main.state == "Z":
        return " without a main process"
    if look.main.state == "T":
        return ", its main process is stopped"
    return "" if look.main.genuine else f", its main process is {look.main.name}"


class LimitLook(NamedTuple):
    """What holds of a unit, soft: value, as it is said there, and the number that this is. Infinity is no limit, and
    nothing that can be read is no number."""

    value: str
    number: float | None


def judge_limit(look: LimitLook | None, unit: str, arguments: Arguments) -> Observation:
    """`unit`: its full name. `look`: None for a unit that has no main process."""
    if look is None:
        return nothing_held(f"{unit} has no main process")
    enough = look.number is not None and look.number >= (arguments.integer("at_least") or 0)
    return observed(enough, f"{arguments.require('name')} of {unit} is {look.value}")
