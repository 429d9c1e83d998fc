"""A machine for the tests of one module, which may do to it what they like."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest

from runners.kernel.host import Host, Hosts, boot
from runners.kernel.image import find
from runners.kernel.vm import QEMU
from runners.worlds import WorldError
from scenario_dsl.errors import HostError
from tests.runners.kernel.machines import RECIPE, SYSTEM


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    if shutil.which(QEMU) is None:
        pytest.skip("QEMU is not installed")
    try:
        image = find(SYSTEM)
    except HostError as missing:
        pytest.skip(f"{missing}: {missing.remedy}")
    pool = Hosts(1, lambda: boot(image, RECIPE))
    yield pool
    pool.close()


@pytest.fixture
def host(hosts: Hosts) -> Iterator[Host]:
    """With a world open on it. Whatever a test did to it, it is clean or gone afterwards."""
    taken = hosts.take()
    taken.open(RECIPE.services)
    yield taken
    try:
        hosts.give_back(taken)
    except WorldError:
        assert not taken.usable()
