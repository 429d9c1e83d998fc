"""Generated pipelines give the same output in the simulator and in real bash."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.differential.harness import Pair

_TEXT = st.text(alphabet="ab cAB1290,:-\n", max_size=40)
_STAGES = st.sampled_from(
    [
        "sort", "sort -u", "sort -r", "sort -n", "sort -k2", "sort -t, -k2,2", "uniq", "uniq -c", "uniq -d", "uniq -u",
        "wc", "wc -l", "wc -w", "head -n 2", "head -c 7", "tail -n 2", "tail -n +2", "tail -c 5", "cut -c2-4",
        "cut -d, -f2", "cut -d: -f1,3", "tr a-z A-Z", "tr -d a", "tr -s ' '", "tr -cd 'a-z\\n'", "rev", "tac", "nl",
        "cat -n", "cat -A", "grep a", "grep -v b", "grep -c .", "grep -n '^a'", "grep -o '[0-9]*'", "grep -E 'a|b'",
        "sed s/a/X/", "sed s/b/Y/g", "sed 2d", "sed -n '$p'", "sed 's/[0-9]/<&>/g'", "sed '/^$/d'", "sed -n '1~2p'",
        "awk '{print $1}'", "awk '{print NF}'", "awk -F, '{print $2}'", "awk 'NR>1'", "awk '{s+=$1} END {print s}'",
        "paste -sd,", "paste - -", "fold -w 5", "base64", "md5sum", "od -c", "xargs -n1", "expand 2>/dev/null",
    ]
)  # fmt: skip
# `$$` is a process number, which differs.
_WORD = st.text(alphabet="ab*? $x{},1..3~", min_size=1, max_size=12).filter(lambda word: "$$" not in word)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with tempfile.TemporaryDirectory(prefix="differential-") as top:
        yield Pair(Path(top) / "case")


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=_TEXT, stages=st.lists(_STAGES, min_size=1, max_size=4))
def test_pipelines(pair: Pair, text: str, stages: list[str]) -> None:
    stages = [stage for stage in stages if not stage.startswith(("xargs", "expand"))] or ["cat"]
    script = f"printf %s {shlex.quote(text)} | " + " | ".join(stages)
    assert pair.simulated(script) == pair.real(script), script


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(_WORD, min_size=1, max_size=4), quoted=st.booleans())
def test_words_expand_alike(pair: Pair, words: list[str], quoted: bool) -> None:
    shown = " ".join(f'"{word}"' if quoted else word for word in words)
    script = f"x='a b'; set -- one two; printf '<%s>' {shown}"
    ours, theirs = pair.simulated(script), pair.real(script)
    assert (ours.stdout, ours.status) == (theirs.stdout, theirs.status), script
