"""The words after an object and a command of ip, and the ways in which it and the kernel refuse them."""

from __future__ import annotations

import ipaddress
from typing import NoReturn

from runners.sim.commands.context import CommandExit, Context
from runners.sim.network.links import Refused
from runners.sim.network.state import Interface, mask, number
from runners.text import is_digits


class Words:
    """A command's words from left to right. What is wrong with one is said and ends the command."""

    def __init__(self, ctx: Context, words: list[str]) -> None:
        self.ctx = ctx
        self._words = words[::-1]

    def __bool__(self) -> bool:
        return bool(self._words)

    def next(self) -> str:
        return self._words.pop()

    def value(self) -> str:
        if not self._words:
            self.fail('Command line is not complete. Try option "help"', 255)
        return self._words.pop()

    def number(self, name: str, wrong: str) -> int:
        text = self.value()
        if not (is_digits(text) and len(text) < 11):
            self.fail(f'Error: argument "{text}" is wrong: {wrong.format(name)}\n', 255)
        return int(text)

    def device(self) -> Interface:
        return self.named(self.value())

    def named(self, name: str) -> Interface:
        found = next((one for one in self.ctx.machine.network.interfaces if one.name == name), None)
        if found is None:
            self.fail(f'Cannot find device "{name}"', 1)
        return found

    def garbage(self, word: str, name: str = "dev") -> NoReturn:
        self.fail(f'Error: either "{name}" is duplicate, or "{word}" is a garbage.', 255)

    def fail(self, message: str, status: int) -> NoReturn:
        self.ctx.stderr.write(f"{message}\n".encode("utf-8", "surrogateescape"))
        raise CommandExit(status)

    def refuse(self, refused: Refused) -> NoReturn:
        """What the kernel says: its own words, or an error number's."""
        self.fail(("Error: " if refused.explained else "RTNETLINK answers: ") + refused.message, 2)

    def prefix(self, text: str) -> tuple[str, int] | None:
        """(address, length) of an IPv4 prefix, None for a good one of IPv6; `default` is 0.0.0.0/0."""
        if text in ("default", "any", "all"):
            return "0.0.0.0", 0  # noqa: S104 (anywhere)
        address, slash, length = text.partition("/")
        if slash and not length.isascii():
            self._no_prefix(text)
        if number(address) < 0:
            try:
                ipaddress.IPv6Interface(text)
            except ValueError:
                self._no_prefix(text)
            return None
        if not slash:
            return address, 32
        if "." in length:
            bits = number(length)
            wide = bits.bit_count() if bits >= 0 and bits == mask(bits.bit_count()) else 33
        else:
            wide = int(length) if is_digits(length) and len(length) < 3 else 33
        if wide > 32:
            self._no_prefix(text)
        return address, wide

    def _no_prefix(self, text: str) -> NoReturn:
        self.fail(f'Error: any valid prefix is expected rather than "{text}".', 1)


def may_change(ctx: Context) -> None:
    if ctx.cred.uid != 0:
        ctx.stderr.write(b"RTNETLINK answers: Operation not permitted\n")
        raise CommandExit(2)


def chosen(ctx: Context, words: list[str]) -> list[tuple[int, Interface]]:
    """The interfaces that a `show` asks for, with their numbers."""
    rest = Words(ctx, words)
    name, only_up = "", False
    while rest:
        word = rest.next()
        if word == "up":
            only_up = True
        elif word in ("type", "master", "group", "scope", "to", "label"):
            rest.value()
        elif name:
            rest.garbage(word)
        else:
            name = rest.value() if word == "dev" else word
    everything = list(enumerate(ctx.machine.network.interfaces, 1))
    if name and not any(one.name == name for _, one in everything):
        rest.fail(f'Device "{name}" does not exist.', 1)
    return [(index, one) for index, one in everything if name in ("", one.name) and (one.up or not only_up)]


def verb(ctx: Context, words: list[str], verbs: tuple[str, ...], kind: str) -> str:
    """The command that the first word begins, as ip takes it: the first of the list that it could mean."""
    if not words:
        return "show"
    found = next((one for one in verbs if one.startswith(words[0])), None)
    if found is None:
        Words(ctx, []).fail(f'Command "{words[0]}" is unknown, try "ip {kind} help".', 255)
    return found
