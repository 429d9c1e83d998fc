"""Options by GNU getopt's rules, and the words it answers wrong ones with."""

from __future__ import annotations

import pytest

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options, parse
from runners.sim.commands.streams import Buffer, Capture
from tests.runners.sim.shell.test_hostile import fresh

_LONG = ["all/a", "lines=/n", "color=?", "size", "si"]


def parsed(*words: str, short: str = "an:i::") -> tuple[Options, str]:
    machine, _ = fresh()
    machine.budget.left = 1_000_000
    error = Capture(machine)
    ctx = Context(
        machine=machine, argv=["ls", *words], files=machine.view(), environment={}, stdin=Buffer(b""),
        stdout=Capture(machine), stderr=error, runner=lambda argv, ctx: 0, pid=1,
    )  # fmt: skip
    try:
        return parse(ctx, short, _LONG, status=2), ""
    except CommandExit:
        return Options((), []), error.data.decode()


def test_operands_may_stand_between_options() -> None:
    options, _ = parsed("x", "-a", "y", "-n3", "--", "-z")
    assert options.operands == ["x", "y", "-z"]
    assert options.has("a")
    assert options.value("n") == "3"


def test_a_plus_stops_at_the_first_operand() -> None:
    options, _ = parsed("-a", "cmd", "-n", short="+an:")
    assert options.operands == ["cmd", "-n"]


def test_optional_values_must_be_attached() -> None:
    assert parsed("-i", "x")[0].given == (("i", None),)
    assert parsed("-ix")[0].given == (("i", "x"),)
    assert parsed("--color", "x")[0].given == (("color", None),)
    assert parsed("--color=auto")[0].given == (("color", "auto"),)


def test_long_names_may_be_shortened_and_share_the_short_ones_name() -> None:
    assert parsed("--al", "--li", "4")[0].given == (("a", None), ("n", "4"))


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("-Z", "ls: invalid option -- 'Z'"),
        ("--zoo", "ls: unrecognized option '--zoo'"),
        ("-n", "ls: option requires an argument -- 'n'"),
        ("--lines", "ls: option '--lines' requires an argument"),
        ("--all=x", "ls: option '--all' doesn't allow an argument"),
        ("--s", "ls: option '--s' is ambiguous; possibilities: '--size' '--si'"),
    ],
)
def test_wrong_options(word: str, message: str) -> None:
    assert parsed(word)[1] == f"{message}\nTry 'ls --help' for more information.\n"
