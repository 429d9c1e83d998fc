"""Parses find's expressions into functions on a visited file."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runners.sim.commands.context import Context
from runners.sim.commands.find_expression import actions
from runners.sim.commands.find_expression.emacs import compiled_as
from runners.sim.commands.modes import ModeError, change_mode
from runners.sim.files.inode import EXECUTE, READ, WRITE
from runners.sim.regexes import RegexError
from runners.sim.shell.patterns import compiled
from runners.sim.users import accounts
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.commands.find_expression.walking import Visit

Test = Callable[["Visit"], bool]
_TYPES = {
    "f": stat.S_ISREG, "d": stat.S_ISDIR, "l": stat.S_ISLNK, "b": stat.S_ISBLK, "c": stat.S_ISCHR, "p": stat.S_ISFIFO,
    "s": stat.S_ISSOCK,
}  # fmt: skip
_UNITS = {"c": 1, "w": 2, "b": 512, "": 512, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_ACCESS = {"-readable": READ, "-writable": WRITE, "-executable": EXECUTE}
_MAX_DEPTH = 100
_BINARY = frozenset({"-o", "-or", "-a", "-and", ","})


class FindError(Exception):
    """The expression is wrong; the text is the message."""


@dataclass(slots=True)
class Expression:
    """What to do with each file, and the options that hold for the whole walk."""

    test: Test
    follow: bool = False
    depth_first: bool = False
    same_mount: bool = False
    least: int = 0
    most: int = 1 << 30
    batches: list[actions.Batch] = field(default_factory=list)


def _numeric(name: str, text: str) -> tuple[str, int]:
    match = re.fullmatch(r"([-+]?)(\d+)(\.\d*)?", text)
    if match is None:
        raise FindError(f"invalid argument `{text}' to `{name}'")
    return match.group(1), int(match.group(2)[:18])


def _compare(sign: str, value: int, wanted: int) -> bool:
    return value > wanted if sign == "+" else value < wanted if sign == "-" else value == wanted


class _Parser:
    def __init__(self, ctx: Context, words: Sequence[str]) -> None:
        self.ctx = ctx
        self.words = words
        self.at = 0
        self.depth = 0
        self.acts = False
        self.expression = Expression(lambda _visit: True)

    def peek(self) -> str | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def argument(self, name: str) -> str:
        if self.at >= len(self.words):
            raise FindError(f"missing argument to `{name}'")
        self.at += 1
        return self.words[self.at - 1]

    def run(self) -> Expression:
        test: Test = lambda _visit: True  # noqa: E731 (the empty expression)
        if self.words:
            test = self.sequence()
            if self.at < len(self.words):
                word = self.words[self.at]
                if word == ")":
                    raise FindError("you have too many ')'")
                raise FindError(f"paths must precede expression: `{word}'")
        if not self.acts:
            inner = test
            test = lambda visit: inner(visit) and actions.print_path(visit)  # noqa: E731
        self.expression.test = test
        return self.expression

    def sequence(self) -> Test:
        left = self.either()
        while self.peek() == ",":
            self.at += 1
            left = _both(left, self.either(), every=True)
        return left

    def either(self) -> Test:
        left = self.both()
        while self.peek() in ("-o", "-or"):
            self.at += 1
            right = self.both()
            left = (lambda first, second: lambda visit: first(visit) or second(visit))(left, right)
        return left

    def both(self) -> Test:
        left = self.term()
        while self.peek() not in (None, "-o", "-or", ")", ","):
            if self.peek() in ("-a", "-and"):
                self.at += 1
            left = _both(left, self.term())
        return left

    def term(self) -> Test:
        word = self.peek()
        if word is None:
            raise FindError(f"expected an expression after '{self.words[-1]}'")
        if word in _BINARY:
            raise FindError(f"invalid expression; you have used a binary operator '{word}' with nothing before it.")
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise FindError("expression is nested too deeply")
        try:
            self.at += 1
            if word in ("!", "-not"):
                inner = self.term()
                return lambda visit: not inner(visit)
            if word in ("(", "\\("):
                if self.peek() == ")":
                    raise FindError("invalid expression; empty parentheses are not allowed.")
                inside = self.sequence()
                if self.peek() != ")":
                    raise FindError("invalid expression; I was expecting to find a ')' somewhere but did not see one.")
                self.at += 1
                return inside
            return self.primary(word)
        finally:
            self.depth -= 1

    def primary(self, name: str) -> Test:
        if not name.startswith("-"):
            raise FindError(
                f"paths must precede expression: `{name}'\n"
                f"find: possible unquoted pattern after predicate `{self.words[self.at - 3]}'?"
                if self.at >= 3
                else f"paths must precede expression: `{name}'"
            )
        for group in (self._option, self._action, self._name_test, self._size_test, self._time_test, self._owner_test):
            test = group(name)
            if test is not None:
                return test
        raise FindError(f"unknown predicate `{name}'")

    def _option(self, name: str) -> Test | None:
        expression = self.expression
        if name in ("-maxdepth", "-mindepth"):
            text = self.argument(name)
            if not is_digits(text):
                raise FindError(f"Expected a positive decimal integer argument to {name}, but got ‘{text}’")
            if name == "-maxdepth":
                expression.most = int(text[:9])
            else:
                expression.least = int(text[:9])
        elif name in ("-depth", "-d"):
            expression.depth_first = True
        elif name in ("-xdev", "-mount"):
            expression.same_mount = True
        elif name == "-follow":
            expression.follow = True
        elif name in ("-regextype", "-noleaf", "-warn", "-nowarn", "-daystart", "-ignore_readdir_race"):
            if name == "-regextype":
                self.regextype = self.argument(name)
        else:
            return None
        return lambda _visit: True

    regextype = "findutils-default"

    def _action(self, name: str) -> Test | None:
        made: Test | None = None
        if name == "-print":
            made = actions.print_path
        elif name == "-print0":
            made = lambda visit: actions.print_path(visit, end=b"\0")  # noqa: E731
        elif name == "-printf":
            template = self.argument(name)
            made = lambda visit: actions.formatted(visit, template)  # noqa: E731
        elif name == "-ls":
            made = actions.listed
        elif name == "-delete":
            self.expression.depth_first = True
            made = actions.delete
        elif name == "-quit":
            made = actions.quit_walk
        elif name in ("-exec", "-execdir", "-ok", "-okdir"):
            made = self._exec(name)
        elif name in ("-fprint", "-fprintf", "-fls", "-fprint0"):
            made = self._to_file(name)
        elif name == "-prune":
            return actions.prune
        if made is not None:
            self.acts = True
        return made

    def _to_file(self, name: str) -> Test:
        path = self.argument(name)
        writer = self.ctx.create(path)
        template = self.argument(name) if name == "-fprintf" else "%p\\n"
        return lambda visit: actions.formatted(visit, template, writer)

    def _exec(self, name: str) -> Test:
        words: list[str] = []
        while True:
            if self.at >= len(self.words):
                raise FindError(f"missing argument to `{name}'")
            word = self.words[self.at]
            self.at += 1
            if word == ";":
                break
            if word == "+" and words and words[-1] == "{}":
                batch = actions.Batch(words[:-1], in_folder=name.endswith("dir"))
                self.expression.batches.append(batch)
                return batch.add
            words.append(word)
        if not words:
            raise FindError(f"missing argument to `{name}'")
        folder = name.endswith("dir")
        asks = name.startswith("-ok")
        return lambda visit: actions.execute(visit, words, in_folder=folder, asks=asks)

    def _name_test(self, name: str) -> Test | None:
        if name in ("-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-lname", "-ilname"):
            pattern = self.argument(name)
            ignore_case = name.startswith("-i")
            kind = name.removeprefix("-i").removeprefix("-").removeprefix("i")
            matches = compiled(pattern, ignore_case=ignore_case).fullmatch
            if kind == "name":
                return lambda visit: matches(visit.name) is not None
            if kind == "lname":
                return lambda visit: visit.inode.target is not None and matches(visit.inode.target) is not None
            return lambda visit: matches(visit.path) is not None
        if name in ("-regex", "-iregex"):
            pattern = self.argument(name)
            try:
                expression = compiled_as(self.regextype, pattern, ignore_case=name == "-iregex")
            except RegexError as error:
                raise FindError(str(error)) from None

            def whole(visit: Visit) -> bool:
                found = expression.search(visit.path.encode("utf-8", "surrogateescape"))
                return found is not None and found.start == 0 and found.end == len(found.data)

            return whole
        if name == "-type" or name == "-xtype":
            letters = self.argument(name).split(",")
            for letter in letters:
                if letter not in _TYPES:
                    raise FindError(f"Unknown argument to {name}: {letter}")
            tests = [_TYPES[letter] for letter in letters]
            if name == "-xtype":
                return lambda visit: any(test(visit.followed().mode) for test in tests)
            return lambda visit: any(test(visit.inode.mode) for test in tests)
        return {"-true": _true, "-false": _false}.get(name)

    def _size_test(self, name: str) -> Test | None:
        if name == "-size":
            text = self.argument(name)
            match = re.fullmatch(r"([-+]?)(\d+)([cwbkMG]?)", text)
            if match is None:
                raise FindError(
                    f"invalid -size type `{text[-1:]}'"
                    if text[-1:].isalpha()
                    else f"Invalid argument `{text}' to -size"
                )
            sign, wanted, unit = match.group(1), int(match.group(2)), _UNITS[match.group(3)]
            return lambda visit: _compare(sign, -(-visit.inode.size // unit), wanted)
        if name == "-empty":
            return lambda visit: (
                not visit.inode.entries if visit.inode.is_dir else visit.inode.is_file and visit.inode.size == 0
            )
        if name in ("-links", "-inum"):
            sign, wanted = _numeric(name, self.argument(name))
            if name == "-links":
                return lambda visit: _compare(sign, visit.inode.nlink, wanted)
            return lambda visit: _compare(sign, visit.inode.serial, wanted)
        if name == "-samefile":
            number = self.ctx.files.stat(self.argument(name)).number
            return lambda visit: visit.inode.number == number
        return None

    def _time_test(self, name: str) -> Test | None:
        now = self.ctx.machine.clock.now
        if name in ("-mtime", "-ctime", "-atime", "-mmin", "-cmin", "-amin"):
            sign, wanted = _numeric(name, self.argument(name))
            created = name[1] == "c"
            unit = 86400 if name.endswith("time") else 60

            def aged(visit: Visit) -> bool:
                moment = visit.inode.ctime if created else visit.inode.mtime
                age = now - moment
                if unit == 60:
                    return (
                        age > wanted * 60
                        if sign == "+"
                        else age < wanted * 60
                        if sign == "-"
                        else ((wanted - 1) * 60 < age <= wanted * 60)
                    )
                return _compare(sign, int(age // unit), wanted)

            return aged
        compared = re.fullmatch(r"-newer([acmB])([acmBt])", name)
        if name in ("-newer", "-cnewer", "-anewer") or compared is not None:
            text = self.argument(name)
            own = compared[1] if compared is not None else {"-newer": "m"}.get(name, name[1])
            other = compared[2] if compared is not None else "m"
            if other == "t":
                moment = actions.parse_time(text, now)
                if moment is None:
                    raise FindError(f"I cannot figure out how to interpret ‘{text}’ as a date or time")
                limit = moment
            else:
                try:
                    there = self.ctx.files.stat(text)
                except OSError as error:
                    raise FindError(f"‘{text}’: {error.strerror}") from None
                limit = there.ctime if other == "c" else there.mtime
            if own == "c":
                return lambda visit: visit.inode.ctime > limit
            return lambda visit: visit.inode.mtime > limit
        return None

    def _owner_test(self, name: str) -> Test | None:
        known = accounts(self.ctx.machine)
        if name in ("-user", "-uid"):
            text = self.argument(name)
            user = known.user(text) if name == "-user" else None
            if user is not None:
                uid = user.uid
                return lambda visit: visit.inode.uid == uid
            if name == "-user" and not is_digits(text):
                raise FindError(f"‘{text}’ is not the name of a known user")
            sign, wanted = _numeric(name, text)
            return lambda visit: _compare(sign, visit.inode.uid, wanted)
        if name in ("-group", "-gid"):
            text = self.argument(name)
            group = known.group(text) if name == "-group" else None
            if group is not None:
                gid = group.gid
                return lambda visit: visit.inode.gid == gid
            if name == "-group" and not is_digits(text):
                raise FindError(f"‘{text}’ is not the name of an existing group")
            sign, wanted = _numeric(name, text)
            return lambda visit: _compare(sign, visit.inode.gid, wanted)
        if name == "-nouser":
            return lambda visit: known.user(visit.inode.uid) is None
        if name == "-nogroup":
            return lambda visit: known.group(visit.inode.gid) is None
        if name == "-perm":
            return self._perm(self.argument(name))
        if name in _ACCESS:
            want = _ACCESS[name]
            return lambda visit: visit.ctx.files.access(visit.path, want)
        return None

    @staticmethod
    def _perm(text: str) -> Test:
        kind = text[:1] if text[:1] in "-/" else ""
        try:
            wanted = change_mode(text.removeprefix(kind) if kind else text, 0, directory=False, umask=0)
        except ModeError:
            raise FindError(f"invalid mode ‘{text}’") from None
        if kind == "-":
            return lambda visit: visit.inode.permissions & wanted == wanted
        if kind == "/":
            return lambda visit: wanted == 0 or visit.inode.permissions & wanted != 0
        return lambda visit: visit.inode.permissions == wanted


def _both(left: Test, right: Test, *, every: bool = False) -> Test:
    if every:
        return lambda visit: (left(visit), right(visit))[1]
    return lambda visit: left(visit) and right(visit)


def _true(_visit: Visit) -> bool:
    return True


def _false(_visit: Visit) -> bool:
    return False


def parse_expression(ctx: Context, words: Sequence[str]) -> Expression:
    """Parse everything behind the paths. Raises FindError."""
    return _Parser(ctx, words).run()
