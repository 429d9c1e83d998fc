"""find's own language: where it looks, whether it takes everything there, and what it does with it."""

from __future__ import annotations

from typing import NamedTuple

from runners.typed.values import UNKNOWN, Invocation, Value

_EVERYTHING = frozenset({"*", "**", ".*", "*.*", "?*"})
"""Tests with a value that leave most of a tree in."""
_NARROW = frozenset(
    (  # noqa: SIM905 (a table, read better so)
        "-name -iname -path -ipath -wholename -regex -iregex -newer -newermt -mtime -mmin -ctime -cmin -atime "
        "-amin -size -user -group -uid -gid -perm -inum -links -empty -nouser -nogroup -lname -samefile -used "
        "-executable -readable"
    ).split()
)
_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_WRITES = frozenset({"-fprint", "-fprint0", "-fprintf", "-fls"})


class Find(NamedTuple):
    """`roots`: absolute paths. `narrow`: a test leaves most of what is there out. `commands`: what it runs, {} filled.

    `deletes`: it removes what it finds. `writes`: it prints into a file.
    """

    roots: tuple[Value, ...]
    narrow: bool
    deletes: bool
    writes: bool
    commands: tuple[tuple[Value, ...], ...]

    @classmethod
    def of(cls, invocation: Invocation) -> Find:
        words = list(invocation.arguments)
        while words and words[0].text in ("-H", "-L", "-P", "-O3", "-D"):
            words.pop(0)
        split = next((n for n, word in enumerate(words) if word.text[:1] in ("-", "(", ")", "!")), len(words))
        roots = tuple(word._replace(text=invocation.path(word)) for word in words[:split]) or (
            Value(invocation.folder),
        )
        tests = words[split:]
        narrow = any(_narrows(tests, index) for index in range(len(tests)))
        told = (Value(UNKNOWN),) if narrow else roots
        return cls(
            roots=roots,
            narrow=narrow,
            deletes=any(word.text == "-delete" for word in tests),
            writes=any(word.text in _WRITES for word in tests),
            commands=tuple(_commands(tests, told)),
        )

    @property
    def names(self) -> tuple[Value, ...] | None:
        """What it prints: everything below its roots, or nobody knows what."""
        return None if self.narrow else tuple(Value(f"{root.text.rstrip('/')}/*", True) for root in self.roots)


def _narrows(tests: list[Value], index: int) -> bool:
    if tests[index].text not in _NARROW:
        return False
    value = tests[index + 1].text if index + 1 < len(tests) else ""
    return value not in _EVERYTHING


def _commands(tests: list[Value], told: tuple[Value, ...]) -> list[tuple[Value, ...]]:
    commands: list[tuple[Value, ...]] = []
    index = 0
    while index < len(tests):
        if tests[index].text not in _RUNS:
            index += 1
            continue
        end = next((n for n in range(index + 1, len(tests)) if tests[n].text in (";", "+")), len(tests))
        words: list[Value] = []
        for word in tests[index + 1 : end]:
            if word.text == "{}":
                words += told
            else:
                words.append(word._replace(text=word.text.replace("{}", told[0].text)))
        commands.append(tuple(words))
        index = end + 1
    return commands
