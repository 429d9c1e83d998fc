"""perl: the language of the one-liners, as Debian 12's perl 5.36 runs them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from runners.sim.commands.awk.streams import external, internal
from runners.sim.commands.context import Context
from runners.sim.commands.inputs import describe
from runners.sim.commands.perl.files import close
from runners.sim.commands.perl.parsing import Parser
from runners.sim.commands.perl.patterns import Matching
from runners.sim.commands.perl.runtime import Exit, Next, Return, Runtime
from runners.sim.commands.perl.source import Source
from runners.sim.commands.perl.statements import Block
from runners.sim.commands.perl.values import CompileError, PerlError, text

NAMES = ("perl", "perl5.36.0")

_VERSION = """
This is perl 5, version 36, subversion 0 (v5.36.0) built for x86_64-linux-gnu-thread-multi
(with 53 registered patches, see perl -V for more detail)

Copyright 1987-2022, Larry Wall

Perl may be copied only under the terms of either the Artistic License or the
GNU General Public License, which may be found in the Perl 5 source kit.

Complete documentation for Perl, including FAQ lists, should be found on
this system using "man perl" or "perldoc perl".  If you have access to the
Internet, point your browser at https://www.perl.org/, the Perl Home Page.

"""


@dataclass
class _Switches:
    """The command line. `separator`: $/ by -0; `ending`: $\\ by -l; `uses`: `use` lines of -M."""

    code: list[str] = field(default_factory=list)
    uses: list[str] = field(default_factory=list)
    loop: str = ""
    split: str | None = None
    in_place: str | None = None
    chomp: bool = False
    separator: str | None = "\n"
    ending: str | None = None
    check: bool = False
    say: bool = False
    words: list[str] = field(default_factory=list)


def main(ctx: Context) -> int:
    try:
        switches = _switches(ctx, [internal(word) for word in ctx.args])
    except _Answered as answered:
        return answered.status
    if switches.code:
        name, written, words = "-e", "\n".join(switches.code) + "\n", switches.words
    else:
        name, words = switches.words[0] if switches.words else "-", switches.words[1:]
        try:
            written = ctx.open(external(name)).read().decode("latin-1")
        except OSError as error:
            ctx.stderr.write(
                f'Can\'t open perl script "{external(name)}": {describe(error)}\n'.encode("utf-8", "surrogateescape")
            )
            return 2
        first = written.split("\n", 1)[0]
        if first.startswith("#!") and "perl" in first:
            _letters(ctx, switches, first.partition("perl")[2].split())
    return _run(ctx, switches, name, written, words)


class _Answered(Exception):  # noqa: N818
    """The command line asked for something else than a program."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def _switches(ctx: Context, words: list[str]) -> _Switches:
    switches = _Switches()
    while words and words[0].startswith("-") and words[0] != "-":
        word = words.pop(0)
        if word == "--":
            break
        _cluster(ctx, switches, word, words)
    switches.words = words
    return switches


def _letters(ctx: Context, switches: _Switches, given: list[str]) -> None:
    """The switches of a #! line."""
    for word in given:
        if word.startswith("-"):
            _cluster(ctx, switches, word, [])


def _cluster(ctx: Context, switches: _Switches, word: str, words: list[str]) -> None:
    at = 1
    while at < len(word):
        letter, rest = word[at], word[at + 1 :]
        at += 1
        if letter in "eE":
            if not rest and not words:
                ctx.stderr.write(f"No code specified for -{letter}.\n".encode())
                raise _Answered(29)
            switches.say = switches.say or letter == "E"
            switches.code.append(rest or words.pop(0))
            return
        if letter in "np":
            switches.loop = letter if switches.loop != "p" else "p"
        elif letter == "i":
            switches.in_place = rest
            return
        elif letter in "aF":
            switches.split = (rest or switches.split) if letter == "F" else switches.split or " "
            switches.loop = switches.loop or "n"
            if letter == "F":
                return
        elif letter == "l":
            switches.chomp, digits = True, re.match("[0-7]*", rest)
            switches.ending = chr(int(digits[0], 8)) if digits and digits[0] else switches.separator
            at += len(digits[0]) if digits else 0
        elif letter == "0":
            digits = re.match("[0-7]*", rest)
            code = int(digits[0] or "0", 8) if digits else 0
            switches.separator = None if code >= 0o400 else "" if digits and digits[0] == "0" else chr(code)
            at += len(digits[0]) if digits else 0
        elif letter in "Mm":
            module, _, imported = (rest or (words.pop(0) if words else "")).partition("=")
            switches.uses.append(f"use {module} qw({imported.replace(',', ' ')});" if imported else f"use {module};")
            return
        elif letter == "v":
            ctx.out(_VERSION)
            raise _Answered(0)
        elif letter == "c":
            switches.check = True
        elif letter == "C":
            return
        elif letter not in "wWXsTtuUS":
            ctx.stderr.write(
                f"Unrecognized switch: -{word[at - 1 :]}  (-h will show valid options).\n".encode("latin-1")
            )
            raise _Answered(29)


def _run(ctx: Context, switches: _Switches, name: str, written: str, words: list[str]) -> int:
    rt = Runtime(ctx, name, words)
    try:
        preamble = "".join(switches.uses)
        parser = Parser(Source(preamble + written, name))
        parser.preamble = len(preamble)
        parser.terms.say = switches.say
        program = parser.program()
    except CompileError as problem:
        rt.warn(str(problem))
        return problem.status
    if switches.check:
        rt.warn(f"{name} syntax OK\n")
        return 0
    rt.subs = {sub: made.code(rt) for sub, made in parser.subs.items()}
    rt.set("$/", switches.separator)
    rt.set("$\\", switches.ending)
    rt.diamond.in_place = switches.in_place
    status = _guarded(rt, lambda: _body(rt, switches, parser, program))
    for block in reversed(parser.ends):
        status = _guarded(rt, lambda block=block: block.run(rt)) or status
    rt.diamond.finish()
    for handle in list(rt.handles.values()):
        if handle is not rt.diamond:
            close(rt, handle)
    return status


def _guarded(rt: Runtime, run) -> int:  # type: ignore[no-untyped-def]
    try:
        run()
    except Exit as ended:
        return ended.status
    except (Return, Next):
        return 0
    except PerlError as problem:
        rt.warn(str(problem))
        return rt.exit_status(problem)
    return 0


def _body(rt: Runtime, switches: _Switches, parser: Parser, program: Block) -> None:
    for block in parser.begins:
        block.run(rt)
    if not switches.loop:
        program.run(rt)
        return
    separate = _splitter(parser, switches.split)
    rt.last_read = ("", rt.diamond)
    while (record := rt.diamond.record(rt.find("$/").value)) is not None:
        rt.spend()
        ending = rt.find("$/").value
        rt.topic.value = record.removesuffix(text(ending)) if switches.chomp and ending else record
        if separate is not None:
            separate.values(rt)
        try:
            program.run(rt)
        except Next as jump:
            if jump.last:
                if switches.in_place is not None:
                    rt.diamond.finish()
                return
        if switches.loop == "p":
            rt.out.write(text(rt.topic.value) + text(rt.find("$\\").value))


def _splitter(parser: Parser, pattern: str | None):  # type: ignore[no-untyped-def]
    """What fills @F for -a."""
    if pattern is None:
        return None
    if len(pattern) > 1 and pattern[0] == pattern[-1] and pattern[0] in "/\"'":
        pattern = pattern[1:-1]
    quoted = "' '" if pattern == " " else "m\0" + pattern + "\0"
    return parser.inner(f"@F = split({quoted}, $_)", 1)


__all__ = ["NAMES", "Matching", "main"]
