"""What was measured on a host, held against what a probe expects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from runners.worlds import Observation, WorldError
from scenario_dsl.model import Probe
from scenario_dsl.values import Value

Measured = Mapping[str, Any]


def evaluate(probe: Probe, measured: Measured, quiet: Mapping[str, int]) -> Observation:
    """measured: a reply to `measure`; quiet: nanoseconds that an undisturbed request of each service takes.

    Raises WorldError for a probe of another kind.
    """
    evaluator = _EVALUATORS.get(probe.type)
    if evaluator is None:
        raise WorldError(f"nothing here evaluates the probe {probe.type}")
    return evaluator(probe.arguments, measured, quiet)


def _latency(given: Mapping[str, Value], measured: Measured, quiet: Mapping[str, int]) -> Observation:
    name, percentile = str(given["service"]), str(given.get("percentile") or 99)
    load = measured["loads"].get(name)
    if load is None or "ns" not in load or name not in quiet:
        return Observation(holds=False, detail=f"there is no service {name}")
    ratio = load["ns"][percentile] / quiet[name]
    detail = f"p{percentile} of {name} is {load['ns'][percentile] / 1e6:.2f} ms, {ratio:.1f} times the quiet one"
    return Observation(holds=_between(ratio, given, "ratio"), detail=detail)


def _throughput(given: Mapping[str, Value], measured: Measured, quiet: Mapping[str, int]) -> Observation:  # noqa: ARG001
    shares = {name: load["share"] for name, load in measured["loads"].items() if "share" in load}
    wanted = given.get("loads")
    names = [str(name) for name in wanted] if isinstance(wanted, tuple) else sorted(shares)
    if not shares.keys() & set(names) and given.get("share_at_least") is not None:
        return Observation(holds=True, detail="nothing computes here that could be held back")
    share = sum(shares.get(name, 0.0) for name in names)
    detail = f"{', '.join(names) or 'nothing'} compute at {share:.0%} of the machine"
    return Observation(holds=_between(share, given, "share"), detail=detail)


def _scheduler(given: Mapping[str, Value], measured: Measured, quiet: Mapping[str, int]) -> Observation:  # noqa: ARG001
    status = measured["scheduler"]
    said = status["acknowledged"] or {}
    found = {
        "state": status["state"],
        "profile": said.get("profile"),
        "acknowledged": acknowledged(status),
        "ejected": bool(status["ejected"] or status["events"]),
    }
    wrong = [key for key, value in found.items() if given.get(key) is not None and given[key] != value]
    shown = f"the scheduler is {found['state']}" + (f", by {found['profile']}" if found["profile"] else "")
    shown += ", and acts by the last request" if found["acknowledged"] else ""
    shown += f"; thrown out: {status['ejected'] or status['events']}" if found["ejected"] else ""
    return Observation(holds=not wrong, detail=shown)


def acknowledged(status: Measured) -> bool:
    """Has the running scheduler itself written this very request's id, profile and generation?"""
    said, request = status["acknowledged"], status["request"]
    return (
        status["state"] == "enabled"
        and bool(said and request)
        and (said["id"], said["profile"], said["generation"])
        == (status["id"], request["profile"], status["generation"])
    )


def _between(value: float, given: Mapping[str, Value], what: str) -> bool:
    least, most = given.get(f"{what}_at_least"), given.get(f"{what}_at_most")
    return (not isinstance(least, int | float) or value >= least) and (
        not isinstance(most, int | float) or value <= most
    )


_EVALUATORS: Mapping[str, Callable[[Mapping[str, Value], Measured, Mapping[str, int]], Observation]] = MappingProxyType(
    {"latency": _latency, "throughput": _throughput, "scheduler": _scheduler}
)
