"""/bin/sh is dash: what it runs, what it refuses and in which words, as the real one does."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.differential.harness import Pair

LINES = (Path(__file__).parent / "dash.lines").read_text().splitlines()
_SH = shutil.which("sh")


@pytest.mark.skipif(_SH is None or Path(os.path.realpath(_SH)).name != "dash", reason="sh is not dash here")
@pytest.mark.parametrize("part", range(4))
def test_scripts_agree_with_real_dash(part: int) -> None:
    with tempfile.TemporaryDirectory(prefix="differential-") as top:
        pair = Pair(Path(top) / "case", "dash")
        different = [
            f"{script}\n  ours   {ours}\n  theirs {theirs}"
            for script in LINES[part::4]
            if (ours := pair.simulated(script)) != (theirs := pair.real(script))
        ]
    assert not different, "\n".join(different)
