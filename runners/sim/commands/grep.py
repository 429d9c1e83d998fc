"""grep, egrep, fgrep, zgrep: print lines that match patterns."""

from __future__ import annotations

import fnmatch
import gzip
import re
import zlib
from collections.abc import Iterator, Sequence

from runners.sim.commands.context import CommandExit, Context, Reader
from runners.sim.commands.grep_search import Grep
from runners.sim.commands.inputs import describe
from runners.sim.commands.options import Options, parse
from runners.sim.commands.streams import Buffer
from runners.sim.regexes import BacktrackingLimit, Regex, RegexError, basic, extended, fixed, perl

NAMES = ("grep", "egrep", "fgrep", "zgrep", "rgrep")
_LONG = [
    "extended-regexp/E", "fixed-strings/F", "basic-regexp/G", "perl-regexp/P", "regexp=/e", "file=/f", "ignore-case/i",
    "no-ignore-case", "word-regexp/w", "line-regexp/x", "null-data/z", "no-messages/s", "invert-match/v",
    "max-count=/m", "byte-offset/b", "line-number/n", "line-buffered", "with-filename/H", "no-filename/h", "label=",
    "only-matching/o", "quiet/q", "silent/q", "binary-files=", "text/a", "directories=/d", "devices=/D", "recursive/r",
    "dereference-recursive/R", "include=", "exclude=", "exclude-from=", "exclude-dir=", "files-without-match/L",
    "files-with-matches/l", "count/c", "initial-tab/T", "null/Z", "before-context=/B", "after-context=/A",
    "context=/C", "color=?", "colour=?",
]  # fmt: skip
_USAGE = "Usage: grep [OPTION]... PATTERNS [FILE]...\nTry 'grep --help' for more information."


def _walk(ctx: Context, top: str, options: Options, follow: bool) -> Iterator[str]:
    """The files below a directory, in the order of its entries."""
    excluded = options.values("exclude-dir")
    try:
        names = ctx.files.names(top)
    except OSError as error:
        if not options.has("s"):
            ctx.err(f"{top}: {describe(error)}")
        yield ""
        return
    for name in names:
        ctx.spend(2)
        path = f"{top.rstrip('/')}/{name}" if top != "." or options.operands[1:] or not _implicit(options) else name
        try:
            inode = ctx.files.stat(path, follow=follow)
        except OSError:
            continue
        if inode.is_dir:
            if not any(fnmatch.fnmatchcase(name, pattern.rstrip("/")) for pattern in excluded):
                yield from _walk(ctx, path, options, follow)
        elif inode.is_file and _included(name, options):
            yield path


def _implicit(options: Options) -> bool:
    """Was no file named, so that -r means the current directory and names come without `./`?"""
    return len(options.operands) <= (0 if options.has("e", "f") else 1)


def _included(name: str, options: Options) -> bool:
    included = options.values("include")
    if included and not any(fnmatch.fnmatchcase(name, pattern) for pattern in included):
        return False
    return not any(fnmatch.fnmatchcase(name, pattern) for pattern in options.values("exclude"))


def _compile(ctx: Context, options: Options, texts: Sequence[str]) -> list[Regex]:
    default = {"egrep": "E", "fgrep": "F"}.get(ctx.name, "G")
    kind = options.last("E", "F", "G", "P") or default
    maker = {"E": extended, "F": fixed, "G": basic, "P": perl}[kind]
    ignore_case = options.has("i", "y") and options.last("i", "y", "no-ignore-case") != "no-ignore-case"
    try:
        return [maker(text, ignore_case=ignore_case) for text in texts]
    except RegexError as error:
        text = str(error)
        ctx.err("Invalid regular expression" if text.startswith("Unmatched [") else text)
        raise CommandExit(2) from None


def _parse(ctx: Context, arguments: Sequence[str]) -> Options:
    try:
        return parse(
            ctx, "EFGPe:f:iywxzsvm:bnHhoqaId:D:rRLlcTZB:A:C:U", _LONG, status=2, arguments=arguments, hinted=False,
            usage="Usage: grep [OPTION]... PATTERNS [FILE]...\nSearch for PATTERNS in each FILE.",
            version="GNU grep) 3.8",
        )  # fmt: skip
    except CommandExit as ended:
        if ended.status == 2:
            ctx.stderr.write((_USAGE + "\n").encode("utf-8", "surrogateescape"))
        raise


def main(ctx: Context) -> int:
    arguments = ctx.args
    for at, word in enumerate(arguments):
        if word == "--":
            break
        before = arguments[at - 1] if at else ""
        if re.fullmatch(r"-\d+", word) and not re.fullmatch(r"-[A-Za-z]*[efABCmdD]", before):
            arguments = [*arguments[:at], "-C", word[1:], *arguments[at + 1 :]]
            break
    options = _parse(ctx, arguments)
    operands = list(options.operands)
    texts: list[str] = []
    for name, value in options.given:
        if name == "e":
            texts += (value or "").split("\n")
        elif name == "f":
            try:
                data = ctx.open(value or "").read()
            except OSError as error:
                ctx.die(f"{value}: {describe(error)}", 2)
            texts += data.decode("utf-8", "surrogateescape").removesuffix("\n").split("\n") if data else []
    if not options.has("e", "f"):
        if not operands:
            ctx.stderr.write((_USAGE + "\n").encode("utf-8", "surrogateescape"))
            return 2
        texts = operands.pop(0).split("\n")
    grep = Grep(ctx, options, _compile(ctx, options, texts) if texts else [])
    recursive = options.has("r", "R") or ctx.name == "rgrep"
    grep.names = (len(operands) > 1 or recursive or options.has("H")) and options.last("H", "h") != "h"
    if recursive and not operands:
        operands = ["."]
    for name in operands or ["-"]:
        _search_operand(ctx, grep, options, name, recursive)
    if grep.failed and not (grep.quiet and grep.matched):
        return 2
    return int(not grep.matched)


def _search_operand(ctx: Context, grep: Grep, options: Options, name: str, recursive: bool) -> None:
    paths: Iterator[str] | list[str] = [name]
    if name != "-":
        try:
            inode = ctx.files.stat(name)
        except OSError as error:
            _complain(ctx, grep, name, error)
            return
        if inode.is_dir:
            if not recursive:
                if options.value("d") != "skip":
                    grep.failed = True
                    ctx.err(f"{name}: Is a directory")
                return
            if grep.names is False and not options.has("h"):
                grep.names = True
            paths = _walk(ctx, name, options, options.has("R"))
        elif recursive and len(options.operands) <= 2 and not options.has("H") and not options.has("h"):
            grep.names = len(options.operands) > (1 if options.has("e", "f") else 2)
    for path in paths:
        if not path:
            grep.failed = True
            continue
        try:
            reader = ctx.open(path)
            if ctx.name == "zgrep":
                reader = _inflated(reader)
            grep.run(path, reader)
        except BacktrackingLimit:
            if not options.has("P"):
                raise
            grep.failed = True
            ctx.err(f"{'(standard input)' if path == '-' else path}: exceeded PCRE's backtracking limit")
        except OSError as error:
            if error.filename is None:
                raise
            _complain(ctx, grep, path, error)


def _inflated(reader: Reader) -> Reader:
    data = reader.read()
    if not data.startswith(b"\x1f\x8b"):
        return Buffer(data)
    try:
        return Buffer(gzip.decompress(data))
    except (OSError, EOFError, zlib.error):
        return Buffer(b"")


def _complain(ctx: Context, grep: Grep, name: str, error: OSError) -> None:
    grep.failed = True
    if not grep.silent:
        ctx.err(f"{name}: {describe(error)}")
