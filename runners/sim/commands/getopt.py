"""getopt of util-linux: parse the options of a script."""

from __future__ import annotations

import re

from runners.sim.commands.context import Context
from runners.sim.commands.options import hint, parse


def main(ctx: Context) -> int:
    if ctx.args and ctx.args[0] in ("-T", "--test"):
        return 4
    arguments = list(ctx.args)
    if arguments and not arguments[0].startswith("-"):
        # The old way: the first word is the short options, and nothing is quoted.
        short, words, longs, name, quoted, alternative = arguments[0], arguments[1:], [], "getopt", False, False
    else:
        options = parse(
            ctx, "+ahl:n:o:qQs:TuV", ["alternative/a", "help/h", "longoptions=/l", "name=/n", "options=/o", "quiet/q",
                                      "quiet-output/Q", "shell=/s", "test/T", "unquoted/u", "version/V"],
            status=2, version="getopt from util-linux 2.38.1",
        )  # fmt: skip
        words = options.operands
        found = options.value("o")
        if found is None and not options.has("l"):
            if not words:
                ctx.err("missing optstring argument")
                hint(ctx, 2)
            found, words = words[0], words[1:]
        short, name = found or "", options.value("n") or "getopt"
        longs = [one for value in options.values("l") for one in re.split(r"[,\s]+", value) if one]
        quoted, alternative = not options.has("u"), options.has("a")
    if words[:1] == ["--"]:
        words = words[1:]
    return _Reading(ctx, short, longs, name, quoted, alternative).run(words)


class _Reading:
    """One command line, put into order."""

    def __init__(self, ctx: Context, short: str, longs: list[str], name: str, quoted: bool, alternative: bool) -> None:
        self.ctx = ctx
        self.in_order = short.startswith(("+", "-"))
        self.short = short.lstrip("+-")
        self.longs = {one.rstrip(":"): len(one) - len(one.rstrip(":")) for one in longs}
        self.name = name
        self.quoted = quoted
        self.alternative = alternative
        self.out: list[str] = []
        self.failed = False

    def run(self, words: list[str]) -> int:
        rest: list[str] = []
        while words:
            word = words.pop(0)
            if word == "--":
                rest += words
                break
            if word.startswith("--") or (self.alternative and len(word) > 2 and word[0] == "-"):
                self._long(word.lstrip("-"), words)
            elif word.startswith("-") and len(word) > 1:
                self._letters(word[1:], words)
            else:
                rest.append(word)
                if self.in_order:
                    rest += words
                    break
        shown = [*self.out, "--", *(self._quote(one) for one in rest)]
        self.ctx.line(" " + " ".join(shown))
        return int(self.failed)

    def _quote(self, text: str) -> str:
        return "'" + text.replace("'", "'\\''") + "'" if self.quoted else text

    def _complain(self, message: str) -> None:
        self.ctx.stderr.write(f"{self.name}: {message}\n".encode("utf-8", "surrogateescape"))
        self.failed = True

    def _long(self, text: str, words: list[str]) -> None:
        name, equals, value = text.partition("=")
        matches = [one for one in self.longs if one == name] or [one for one in self.longs if one.startswith(name)]
        if not matches:
            self._complain(f"unrecognized option '--{name}'")
            return
        if len(matches) > 1:
            listed = " ".join(f"'--{one}'" for one in matches)
            self._complain(f"option '--{name}' is ambiguous; possibilities: {listed}")
            return
        colons = self.longs[matches[0]]
        if equals and not colons:
            self._complain(f"option '--{matches[0]}' doesn't allow an argument")
            return
        self.out.append(f"--{matches[0]}")
        if colons == 1 and not equals:
            if not words:
                self.out.pop()
                self._complain(f"option '--{matches[0]}' requires an argument")
                return
            value = words.pop(0)
        if colons:
            self.out.append(self._quote(value))

    def _letters(self, letters: str, words: list[str]) -> None:
        while letters:
            letter, letters = letters[0], letters[1:]
            at = self.short.find(letter)
            if at < 0 or letter == ":":
                self._complain(f"invalid option -- '{letter}'")
                continue
            colons = len(self.short[at + 1 :]) - len(self.short[at + 1 :].lstrip(":"))
            if not colons:
                self.out.append(f"-{letter}")
                continue
            if colons == 1 and not letters:
                if not words:
                    self._complain(f"option requires an argument -- '{letter}'")
                    return
                letters = words.pop(0)
            self.out += [f"-{letter}", self._quote(letters)]
            return
