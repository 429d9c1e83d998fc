"""A terminal on the web server for each test."""

from __future__ import annotations

import pytest

from tests.runners.sim.admin.line import Terminal


@pytest.fixture
def sh() -> Terminal:
    return Terminal()
