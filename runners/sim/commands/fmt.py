"""fmt: simple optimal text formatter."""

from __future__ import annotations

import re
from collections.abc import Iterator

from runners.sim.commands.context import CommandExit, Context
from runners.sim.commands.inputs import all_lines
from runners.sim.commands.options import parse
from runners.text import is_digits

_LINE, _SENTENCE, _NO_BREAK, _WIDOW, _ORPHAN, _PAREN, _PUNCT = (
    70 * 70, 50 * 50, 600 * 600, 200 * 200, 150 * 150, 40 * 40, 40 * 40)  # fmt: skip
"""Costs of a line, from the sources of coreutils: of its distance from the goal, of where it ends."""
_PUNCTUATION = [bytes([byte]) for byte in b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]


def main(ctx: Context) -> int:
    arguments = [f"-w{word[1:]}" if re.fullmatch(r"-\d+", word) else word for word in ctx.args]
    options = parse(
        ctx, "cg:p:stuw:", ["crown-margin/c", "goal=/g", "prefix=/p", "split-only/s", "tagged-paragraph/t",
                            "uniform-spacing/u", "width=/w"],
        arguments=arguments,
        usage="Usage: fmt [-WIDTH] [OPTION]... [FILE]...\nReformat each paragraph in the FILE(s), writing to standard "
        "output.",
    )  # fmt: skip
    text = options.value("w") or "75"
    if not is_digits(text) or int(text) > 2500:
        ctx.err(f"invalid width: ‘{text}’")
        raise CommandExit(1)
    width = int(text)
    goal = options.value("g")
    aim = int(goal) if goal is not None and is_digits(goal) else width * (2 * (100 - 7) + 1) // 200
    failed: list[str] = []
    for paragraph in _paragraphs(all_lines(ctx, options.operands, failed), options.has("s")):
        ctx.spend(len(paragraph))
        if not paragraph[0].strip():
            ctx.stdout.write(b"\n")
            continue
        indent = len(paragraph[0]) - len(paragraph[0].lstrip(b" \t"))
        margin = paragraph[0][:indent].expandtabs()
        words = _words(paragraph, options.has("u"))
        for line in _filled(words, width - len(margin), aim - len(margin)):
            ctx.stdout.write(margin + line + b"\n")
    return int(bool(failed))


def _paragraphs(lines: Iterator[bytes], each: bool) -> Iterator[list[bytes]]:
    """Lines of the same indentation that follow each other; empty ones alone."""
    held: list[bytes] = []

    def indent(line: bytes) -> int:
        shown = line.expandtabs()
        return len(shown) - len(shown.lstrip(b" "))

    for line in lines:
        if held and (not line.strip() or each or indent(line) != indent(held[0])):
            yield held
            held = []
        if not line.strip():
            yield [b""]
            continue
        held.append(line)
    if held:
        yield held


class _Word:
    __slots__ = ("final", "paren", "period", "punct", "space", "text")

    def __init__(self, text: bytes, space: int, last: bool) -> None:
        self.text = text
        self.paren = text[:1] in (b"(", b"[", b"'", b"`", b'"')
        self.punct = text[-1:] in _PUNCTUATION
        self.period = text.rstrip(b"\"')]")[-1:] in (b".", b"?", b"!")
        self.final = self.period and (last or space > 1)
        self.space = space if not last else 2 if self.final else 1


def _words(lines: list[bytes], uniform: bool) -> list[_Word]:
    found: list[_Word] = []
    for line in lines:
        pieces = re.findall(rb"(\S+)(\s*)", line)
        for at, (text, space) in enumerate(pieces):
            word = _Word(text, len(space.expandtabs()), at == len(pieces) - 1)
            if uniform:
                word.space = 2 if word.final else 1
            found.append(word)
    found[-1].final = True
    return found


def _filled(words: list[_Word], width: int, goal: int) -> list[bytes]:
    """The lines whose costs are the least, looked for from the end."""
    count = len(words)
    best = [0.0] * (count + 1)
    following = [count] * (count + 1)
    lengths = [0] * (count + 1)
    for start in range(count - 1, -1, -1):
        lowest = float("inf")
        length, end = 0, start
        while True:
            length += len(words[end].text) + (words[end - 1].space if end > start else 0)
            end += 1
            cost = best[end] + (0 if end == count else (10 * (goal - length)) ** 2)
            if end < count and following[end] != count:
                cost += (10 * (length - lengths[end])) ** 2 // 2
            if cost < lowest:
                lowest, following[start], lengths[start] = cost, end, length
            if end >= count or length + words[end - 1].space + len(words[end].text) >= width:
                break
        best[start] = lowest + _base_cost(words, start)
    lines, at = [], 0
    while at < count:
        end = following[at]
        line = bytearray()
        for place in range(at, end):
            line += words[place].text + b" " * (words[place].space if place < end - 1 else 0)
        lines.append(bytes(line))
        at = end
    return lines


def _base_cost(words: list[_Word], start: int) -> float:
    """What it costs to begin a line with this word."""
    cost = float(_LINE)
    if start > 0:
        before = words[start - 1]
        if before.period:
            cost += -_SENTENCE if before.final else _NO_BREAK
        elif before.punct:
            cost -= _PUNCT
        elif start > 1 and words[start - 2].final:
            cost += _WIDOW / (len(before.text) + 2)
    this = words[start]
    if this.paren:
        cost -= _PAREN
    elif this.final:
        cost += _ORPHAN / (len(this.text) + 2)
    return cost
