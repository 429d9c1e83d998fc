"""What lsof is asked for: its options, which have an order and a grammar of their own."""

from __future__ import annotations

import re

from runners.sim.commands.context import CommandExit, Context
from runners.text import is_digits

_HELP = """lsof 4.95.0
 latest revision: https://github.com/lsof-org/lsof
 usage: [-?abhKlnNoOPRtUvVX] [+|-c c] [+|-d s] [+D D] [+L l] [-i i] [-p s] [-u s] [-F f] [--] [names]
"""


class Query:
    """The criteria, and how what fits them is shown."""

    def __init__(self) -> None:
        self.conjunction = False
        self.names: list[str] = []
        self.pids: set[int] | None = None
        self.users: list[str] = []
        self.commands: list[str] = []
        self.internet: str | None = None
        self.descriptors: list[str] = []
        self.below: list[str] = []
        self.links: int | None = None
        self.show_links = False
        self.terse = False
        self.numeric_hosts = False
        self.numeric_ports = False
        self.numeric_users = False
        self.unix = False
        self.fields: str | None = None
        self.parents = False

    @property
    def criteria(self) -> int:
        """How many kinds of files are asked for."""
        named = (self.names, self.users, self.commands, self.descriptors, self.below, self.unix)
        given = (self.pids, self.internet, self.links)
        return sum(1 for one in named if one) + sum(1 for one in given if one is not None)

    @property
    def strict(self) -> bool:
        """Must each file fit every criterion?"""
        return self.conjunction or self.criteria == 1


def read_query(ctx: Context) -> Query:
    """Read the command line; a wrong one ends the command."""
    query = Query()
    words = list(ctx.args)
    while words:
        word = words.pop(0)
        if word == "--":
            query.names += words
            break
        if word in ("+D", "+d"):
            query.below += [ctx.files.absolute(words.pop(0))] if words else []
        elif word.startswith("+L"):
            query.show_links = True
            query.links = int(word[2:]) if is_digits(word[2:]) else None
        elif word.startswith("+"):
            continue
        elif word.startswith("-") and len(word) > 1:
            _flags(ctx, query, word[1:], words)
        else:
            query.names.append(word)
    return query


def _flags(ctx: Context, query: Query, letters: str, words: list[str]) -> None:
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter in "pucd":
            value = letters or (words.pop(0) if words else "")
            if letter == "p":
                if not re.fullmatch(r"\^?\d+(,\^?\d+)*", value):
                    ctx.err(f"illegal process ID: {value}")
                    raise CommandExit(1)
                query.pids = {int(pid) for pid in value.split(",") if is_digits(pid)}
            elif letter == "u":
                query.users += value.split(",")
            elif letter == "c":
                query.commands.append(value)
            else:
                query.descriptors += value.split(",")
            return
        if letter == "i":
            value = letters
            if not value and words and re.match(r"^(:|@|tcp|udp|TCP|UDP|[46])", words[0]):
                value = words.pop(0)
            query.internet = value
            return
        if letter == "F":
            query.fields = letters
            return
        if letter in "sT":
            return
        if letter == "a":
            query.conjunction = True
        elif letter == "n":
            query.numeric_hosts = True
        elif letter == "P":
            query.numeric_ports = True
        elif letter == "l":
            query.numeric_users = True
        elif letter == "t":
            query.terse = True
        elif letter == "U":
            query.unix = True
        elif letter == "R":
            query.parents = True
        elif letter in "hv?":
            ctx.stderr.write(_HELP.encode("utf-8", "surrogateescape"))
            raise CommandExit(0 if letter != "?" else 1)
        elif letter not in "bKNOoVwX":
            ctx.err(f"illegal option character: {letter}")
            ctx.stderr.write(_HELP.encode("utf-8", "surrogateescape"))
            raise CommandExit(1)
