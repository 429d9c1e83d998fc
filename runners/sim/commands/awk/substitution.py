"""sub and gsub."""

from __future__ import annotations

from functools import lru_cache

from runners.sim.commands.awk.runtime import Runtime
from runners.sim.regexes import Regex


@lru_cache(maxsize=512)
def _pieces(replacement: str) -> tuple[str | None, ...]:
    """The replacement's literal parts; None stands for the matched text (`&`)."""
    pieces: list[str | None] = []
    literal = ""
    index = 0
    while index < len(replacement):
        char = replacement[index]
        if char == "\\" and replacement[index + 1 : index + 2] in ("&", "\\"):
            literal += replacement[index + 1]
            index += 2
        elif char == "&":
            pieces += [literal, None]
            literal = ""
            index += 1
        else:
            literal += char
            index += 1
    pieces.append(literal)
    return tuple(pieces)


def substitute(rt: Runtime, regex: Regex, replacement: str, text: str, every: bool) -> tuple[str, int]:
    """The changed text, and how many matches were replaced."""
    pieces = _pieces(replacement)
    data = text.encode("latin-1")
    rt.budget.spend(len(data) >> 8)
    out: list[str] = []
    count = end = 0
    if every:
        found = regex.iterate(data)
    else:
        first = regex.search(data)
        found = iter(() if first is None else (first,))
    size = len(text)
    for match in found:
        rt.budget.spend(3)
        count += 1
        out.append(text[end : match.start])
        matched = text[match.start : match.end]
        for piece in pieces:
            part = matched if piece is None else piece
            out.append(part)
            size += len(part)
        end = match.end
        if size > 1 << 20:
            rt.checked(" " * min(size, 1 << 27))
    out.append(text[end:])
    return rt.checked("".join(out)), count
