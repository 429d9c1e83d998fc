"""Probe types: who gets the processor."""

from __future__ import annotations

from scenario_dsl.probes.shape import ProbeType, may, must

LATENCY = ProbeType(
    name="latency",
    doc=(
        "How long a service's requests take, from when each was due, as a multiple of what one took in the same boot "
        "while nothing else ran (there the median)."
    ),
    example={"service": "checkout", "percentile": 95, "ratio_at_most": 4},
    at_least_one=("ratio_at_most", "ratio_at_least"),
    parameters=(
        must("service", "string", "the service"),
        may("percentile", "integer", "of the requests of the last second", choices=(50, 90, 95, 99), default=99),
        may("ratio_at_most", "number", "against the quiet machine"),
        may("ratio_at_least", "number", "against the quiet machine"),
    ),
)
THROUGHPUT = ProbeType(
    name="throughput",
    doc=(
        "What the loads that compute get done together, of what the machine could do while nothing else runs. Where "
        "none of them is there, nothing is held back."
    ),
    example={"share_at_least": 0.5},
    at_least_one=("share_at_least", "share_at_most"),
    parameters=(
        may("loads", "list of string", "their names; all of them otherwise"),
        may("share_at_least", "number", "between 0 and 1"),
        may("share_at_most", "number", "between 0 and 1"),
    ),
)
SCHEDULER = ProbeType(
    name="scheduler",
    doc="The sched_ext scheduler, as the kernel tells of it: its state, and what it has acknowledged by itself.",
    example={"state": "enabled", "profile": "priority"},
    at_least_one=("state", "profile", "acknowledged", "ejected"),
    parameters=(
        may("state", "string", "whether one is loaded", choices=("enabled", "disabled")),
        may("profile", "string", "the profile that it says it acts by"),
        may("acknowledged", "boolean", "whether it acts by the last request: id, profile and generation are the same"),
        may("ejected", "boolean", "whether kernel or watchdog had to throw one out since the world opened"),
    ),
)
