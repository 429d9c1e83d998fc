"""The container engine for tests marked `engine`, and the images that they need."""

from __future__ import annotations

from functools import lru_cache

import pytest

from runners.hosts import images
from runners.hosts.engine import Engine
from scenario_dsl.errors import HostError
from scenario_dsl.model import System
from tests.conformance.worlds import library


@lru_cache(maxsize=1)
def engine() -> Engine:
    """Skips the test, and says why, where no engine answers."""
    try:
        return Engine.connect()
    except HostError as error:
        pytest.skip(f"{error} ({error.remedy})")


@lru_cache(maxsize=4)
def built(name: str) -> System:
    """A system of the common pack or the small one, whose image is there afterwards."""
    system = library().systems[name]
    images.build(engine(), system, print)
    return system
