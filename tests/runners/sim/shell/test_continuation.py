"""Which typed lines bash would read on for."""

from __future__ import annotations

import pytest

from runners.sim.shell.continuation import incomplete


@pytest.mark.parametrize(
    "text",
    [
        "for i in 1 2; do",
        "echo 'a",
        'echo "a',
        "cat <<EOF\nhi",
        "cat <<'END' > f\nEND of it",
        "cat <<-EOF\n\thi",
        "echo a \\",
        "if true; then echo",
        "echo $(ls",
        "a &&",
        "f() {",
    ],
)
def test_goes_on(text: str) -> None:
    assert incomplete(text)


@pytest.mark.parametrize(
    "text",
    [
        "ls",
        "echo }",
        "cat <<EOF\nhi\nEOF",
        "cat <<-EOF\n\thi\n\tEOF",
        "cat <<< word",
        "echo a \\\\",
        "done",
        "echo )",
        "",
    ],
)
def test_is_whole_or_wrong_already(text: str) -> None:
    assert not incomplete(text)
