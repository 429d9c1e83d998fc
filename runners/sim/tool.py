"""Administrators' tools by their options: one specification makes the parser and the help text.

A specification reads `h,human s,seconds= color=? V,version`: short and long name, `=` for a required argument and `=?`
for an optional one. As in `options`, an option is known by its short letter where it has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NoReturn

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.options import Options, parse


@dataclass(frozen=True, slots=True)
class Tool:
    """`usage`: what follows `Usage:`; `version`: the whole line of --version; `status`: that of a wrong option.

    `after_error`: what a tool that does not hint prints below the complaint about a wrong option: its whole usage.
    `permute` False ends the options at the first operand, for tools that run other commands.
    """

    usage: str
    spec: str
    version: str
    status: int = 1
    hinted: bool = True
    after_error: str = ""
    permute: bool = True
    _short: str = field(init=False, repr=False)
    _long: tuple[str, ...] = field(init=False, repr=False)
    _help: str = field(init=False, repr=False)
    _names_itself: bool = field(init=False, repr=False)
    _asks_for_help: bool = field(init=False, repr=False)
    _asks_for_version: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        short = "" if self.permute else "+"
        long = []
        lines = [f"Usage: {self.usage}", "", "Options:"]
        for entry in self.spec.split():
            names, equals, optional = entry.partition("=")
            letter = names[0] if len(names) == 1 or names[1] == "," else ""
            name = names[2:] if letter else names
            if letter:
                short += letter + {"": "", "=": ":", "=?": "::"}[equals + optional]
            if name:
                long.append(name + equals + optional + (f"/{letter}" if letter else ""))
            dashed = [f"-{letter}"] * bool(letter) + [f"--{name}"] * bool(name)
            lines.append(" " + ", ".join(dashed) + {"": "", "=": " <arg>", "=?": "[=<arg>]"}[equals + optional])
        object.__setattr__(self, "_short", short)
        object.__setattr__(self, "_long", tuple(long))
        object.__setattr__(self, "_help", "\n".join(lines))
        object.__setattr__(self, "_names_itself", "{name}" in self._help)
        entries = self.spec.split()
        object.__setattr__(self, "_asks_for_help", "h,help" in entries or "h" in entries)
        object.__setattr__(self, "_asks_for_version", "V,version" in entries)

    def parse(self, ctx: Context, arguments: Sequence[str] | None = None) -> Options:
        """Parse the arguments; prints help, version or an error and ends the command where they ask for that."""
        usage = self._help.replace("{name}", ctx.name) if self._names_itself else self._help
        try:
            options = parse(
                ctx, self._short, self._long, status=self.status, usage=usage, version=self.version,
                arguments=arguments, hinted=self.hinted,
            )  # fmt: skip
        except CommandExit as ended:
            if ended.status:
                ctx.stderr.write(self.after_error.encode("utf-8", "surrogateescape"))
            raise
        if self._asks_for_help and options.has("h"):
            ctx.line(usage)
            raise CommandExit(0)
        if self._asks_for_version and options.has("V"):
            ctx.line(self.version)
            raise CommandExit(0)
        return options

    def fail(self, ctx: Context, message: str, status: int | None = None) -> NoReturn:
        """End with an error line and, where the tool gives one, the hint at its help."""
        ctx.err(message)
        if self.hinted:
            ctx.stderr.write(f"Try '{ctx.name} --help' for more information.\n".encode("utf-8", "surrogateescape"))
        raise CommandExit(self.status if status is None else status)
