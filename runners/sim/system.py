"""A system's description as the simulator reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scenario_dsl.model import SystemFile
from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemSpec:
    """What a machine is booted from. start_time: seconds since the epoch at opening; uptime: seconds."""

    name: str
    hostname: str
    start_time: float
    uptime: float
    files: tuple[SystemFile, ...]
    settings: Mapping[str, Value]
