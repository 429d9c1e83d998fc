"""Command-line options by the rules of GNU getopt_long, with its error messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple, NoReturn

from runners.sim.commands.context import CommandExit, Context

COREUTILS = "GNU coreutils) 9.1"


class Options(NamedTuple):
    """What the arguments said. `given`: (canonical name, value or None) in the order given; `operands`: the rest.

    The canonical name of an option is its short letter where it has one, else its long name.
    """

    given: tuple[tuple[str, str | None], ...]
    operands: list[str]

    def has(self, *names: str) -> bool:
        """Was any of these given?"""
        for name, _ in self.given:  # noqa: SIM110 (commands ask for each of their options: a generator costs twice this)
            if name in names:
                return True
        return False

    def value(self, *names: str) -> str | None:
        """The value of the last of these that was given."""
        for name, value in reversed(self.given):
            if name in names:
                return value
        return None

    def values(self, *names: str) -> list[str]:
        """All values of these options, in order."""
        return [value for name, value in self.given if name in names and value is not None]

    def last(self, *names: str) -> str | None:
        """Which of these options was given last: for those that override each other."""
        for name, _ in reversed(self.given):
            if name in names:
                return name
        return None


class _Rule(NamedTuple):
    name: str
    argument: int  # 0 none, 1 required, 2 optional
    choices: tuple[tuple[str, ...], ...] = ()
    label: str = ""


class _Rules(NamedTuple):
    short: Mapping[str, _Rule]
    long: Mapping[str, _Rule]
    stop_at_operand: bool


@lru_cache(maxsize=512)
def _rules(short: str, long: tuple[str, ...]) -> _Rules:
    letters: dict[str, _Rule] = {}
    rest = short.lstrip("+")
    index = 0
    while index < len(rest):
        letter = rest[index]
        colons = len(rest[index + 1 :]) - len(rest[index + 1 :].lstrip(":"))
        letters[letter] = _Rule(letter, min(colons, 2))
        index += 1 + colons
    names: dict[str, _Rule] = {}
    for entry in long:
        spelled, _, alias = entry.partition("/")
        spelled, _, listed = spelled.rstrip("}").partition("{")
        argument = 2 if spelled.endswith("=?") else 1 if spelled.endswith("=") else 0
        name = spelled.rstrip("=?")
        label, _, listed = listed.rpartition(":")
        choices = tuple(tuple(same.split("|")) for same in listed.split(",")) if listed else ()
        names[name] = _Rule(alias or name, argument, choices, label or f"--{name}")
        if choices and alias in letters:
            letters[alias] = names[name]._replace(argument=letters[alias].argument)
    names.setdefault("help", _Rule("help", 0))
    names.setdefault("version", _Rule("version", 0))
    return _Rules(letters, names, short.startswith("+"))


def parse(
    ctx: Context,
    short: str = "",
    long: Sequence[str] = (),
    *,
    status: int = 1,
    usage: str | None = None,
    version: str = COREUTILS,
    arguments: Sequence[str] | None = None,
    hinted: bool = True,
) -> Options:
    """Parse the command's arguments.

    short: as getopt's optstring (`a`, `n:` takes a value, `i::` an attached optional one; a leading `+` stops at the
    first operand). long: `name`, `name=` (value), `name=?` (optional value), each with `/x` where it means the same as
    short option x. `name={a|b,c}`: the value is a or c, b means the same as a, and a beginning is enough that only one
    of them has; `{label:a,c}` where errors call it something else than the option. A wrong option ends the command with
    GNU's message and `status`; --help prints `usage`, --version the name and `version`; both end it with 0. `hinted`
    False leaves out the hint after an error, as systemd's tools do.
    """
    rules = _rules(short, tuple(long))
    words = list(ctx.args if arguments is None else arguments)
    given: list[tuple[str, str | None]] = []
    operands: list[str] = []
    index = 0
    while index < len(words):
        word = words[index]
        index += 1
        if word == "--":
            operands += words[index:]
            break
        if word.startswith("--"):
            rule, value = _long(ctx, rules, word[2:], status, hinted)
            if rule.argument == 1 and value is None:
                if index >= len(words):
                    usage_error(ctx, f"option '{word}' requires an argument", status, hinted=hinted)
                value = words[index]
                index += 1
            given.append((rule.name, _chosen(ctx, rule, value)))
        elif word.startswith("-") and len(word) > 1:
            position = 1
            while position < len(word):
                letter = word[position]
                position += 1
                found = rules.short.get(letter)
                if found is None:
                    usage_error(ctx, f"invalid option -- '{letter}'", status, hinted=hinted)
                if found.argument == 0:
                    given.append((found.name, None))
                    continue
                attached = word[position:]
                if found.argument == 1 and not attached:
                    if index >= len(words):
                        usage_error(ctx, f"option requires an argument -- '{letter}'", status, hinted=hinted)
                    attached = words[index]
                    index += 1
                value = attached or None if found.argument == 2 else attached
                given.append((found.name, _chosen(ctx, found, value)))
                break
        else:
            operands.append(word)
            if rules.stop_at_operand:
                operands += words[index:]
                break
    options = Options(tuple(given), operands)
    if given:
        _answer(ctx, options, usage, version, rules)
    return options


def _answer(ctx: Context, options: Options, usage: str | None, version: str, rules: _Rules) -> None:
    """--help and --version, unless the command gave them a short letter of its own."""
    for name, _ in options.given:
        if name == "help":
            ctx.line(usage or f"Usage: {ctx.name} [OPTION]... [FILE]...")
            raise CommandExit(0)
        if name == "version" and rules.long["version"].name == "version":
            ctx.line(f"{ctx.name} ({version}" if ")" in version and "(" not in version else version)
            raise CommandExit(0)


def _long(ctx: Context, rules: _Rules, text: str, status: int, hinted: bool) -> tuple[_Rule, str | None]:
    name, equals, value = text.partition("=")
    rule = rules.long.get(name)
    if rule is None:
        candidates = [known for known in rules.long if known.startswith(name)] if name else []
        same = {rules.long[known] for known in candidates}
        if not candidates:
            usage_error(ctx, f"unrecognized option '--{text}'", status, hinted=hinted)
        if len(same) > 1:
            listed = " ".join(f"'--{known}'" for known in candidates)
            usage_error(ctx, f"option '--{text}' is ambiguous; possibilities: {listed}", status, hinted=hinted)
        name = candidates[0]
        rule = rules.long[name]
    if equals and rule.argument == 0:
        usage_error(ctx, f"option '--{name}' doesn't allow an argument", status, hinted=hinted)
    return rule, value if equals else None


def _chosen(ctx: Context, rule: _Rule, value: str | None) -> str | None:
    return value if value is None or not rule.choices else choose(ctx, value, rule.choices, rule.label)


def choose(ctx: Context, value: str, choices: Sequence[Sequence[str]], label: str) -> str:
    """The choice that is meant, by the first of its names: one of them, or a beginning that no other choice has."""
    fitting = [same for same in choices if value in same]
    fitting = fitting or [same for same in choices if any(name.startswith(value) for name in same)]
    if len(fitting) != 1:
        kind = "ambiguous" if fitting else "invalid"
        listed = "".join("\n  - " + ", ".join(f"‘{name}’" for name in same) for same in choices)
        usage_error(ctx, f"{kind} argument ‘{value}’ for ‘{label}’\nValid arguments are:{listed}")
    return fitting[0][0]


def usage_error(ctx: Context, message: str, status: int = 1, *, hinted: bool = True) -> NoReturn:
    """End with `message` and, if `hinted`, the hint that GNU tools give after it."""
    # getopt names the program as it was called, with its folder.
    ctx.stderr.write(f"{ctx.argv[0]}: {message}\n".encode("utf-8", "surrogateescape"))
    if not hinted:
        raise CommandExit(status)
    hint(ctx, status)


def hint(ctx: Context, status: int = 1) -> NoReturn:
    """Only the second line of a usage error, and the end of the command."""
    ctx.stderr.write(f"Try '{ctx.argv[0]} --help' for more information.\n".encode("utf-8", "surrogateescape"))
    raise CommandExit(status)


def missing_operand(ctx: Context, status: int = 1) -> NoReturn:
    usage_error(ctx, "missing operand", status)
