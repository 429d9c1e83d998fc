"""A typed line, followed to the programs that it would run."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from runners.formats.shell.ast import (
    AndOr,
    ArithmeticFor,
    ArrayLiteral,
    Assignment,
    Body,
    Case,
    Command,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Program,
    Redirect,
    Select,
    Simple,
    Subshell,
    While,
    Word,
)
from runners.formats.shell.parser import parse
from runners.typed.effects import printed, remember
from runners.typed.expansion import Lines, expand, joined
from runners.typed.finds import Find
from runners.typed.scripts import LANGUAGES, told_script
from runners.typed.values import UNKNOWN, Invocation, Redirection, Session, Value, absolute
from runners.typed.wrappers import SHELLS, TAKE_TEXT, WRAPPERS, handed_text, inner, shell_text

_MOST_STEPS = 20_000
_DEEPEST = 24
_MOST_ROUNDS = 64
"""So many values of a loop are followed."""
_COMMON = ("rm", "dd", "chmod", "chown", "mkfs", "shred", "find", "mv", "cp", "tee", "wipefs", "truncate")
"""What a command's name that is a pattern (`/bin/r?`) is held against."""


class Typed(NamedTuple):
    """What a line would run. `whole`: nothing in it stayed unread. `multiplies`: it starts itself without end."""

    invocations: tuple[Invocation, ...]
    whole: bool
    multiplies: bool


class Reader:
    """Reads the lines of one session in their order."""

    def __init__(self) -> None:
        self._session = Session()

    def read(self, line: str) -> Typed:
        """Never raises, whatever the text is."""
        walk = _Walk()
        try:
            walk.text(line, self._session, None)
        except RecursionError:  # nested more deeply than bash itself would follow
            walk.whole = False
        return Typed(tuple(walk.found), walk.whole, walk.multiplies)


class _Walk:
    def __init__(self) -> None:
        self.found: list[Invocation] = []
        self.whole = True
        self.multiplies = False
        self._steps = _MOST_STEPS
        self._depth = 0
        self._calling: list[str] = []
        self._forking = 0

    # -- the tree

    def text(self, text: str, session: Session, stdin: Lines | None) -> Lines | None:
        if UNKNOWN in text:
            self.whole = False
        with self._deeper() as ended:
            if ended:
                return None
            return self._program(parse(text, aliases=tuple(session.aliases.items())), session, stdin)

    @contextmanager
    def _deeper(self) -> Iterator[bool]:
        """One level down; True where that is one too many."""
        self._depth += 1
        self._steps -= 1
        ended = self._depth > _DEEPEST or self._steps < 0
        self.whole = self.whole and not ended
        try:
            yield ended
        finally:
            self._depth -= 1

    def _program(self, program: Program, session: Session, stdin: Lines | None) -> Lines | None:
        self.whole = self.whole and program.problem is None
        return self._bodies(program.bodies, session, stdin)

    def _bodies(self, bodies: Sequence[Body | None], session: Session, stdin: Lines | None) -> Lines | None:
        said: list[Lines | None] = []
        for body in bodies:
            for statement in body.statements if body is not None else ():
                self._forking += statement.background
                said.append(self._command(statement.command, session, stdin))
                self._forking -= statement.background
        return _together(said)

    def _command(self, command: Command, session: Session, stdin: Lines | None) -> Lines | None:
        with self._deeper() as ended:
            if ended:
                return None
            if isinstance(command, Simple):
                return self._simple(command, session, stdin)
            if isinstance(command, Pipeline):
                return self._pipeline(command, session, stdin)
            if isinstance(command, AndOr):
                each = (command.first, *(rest for _, rest in command.rest))
                return _together([self._command(one, session, stdin) for one in each])
            return self._compound(command, session, stdin)

    def _pipeline(self, command: Pipeline, session: Session, stdin: Lines | None) -> Lines | None:
        if len(command.commands) == 1:
            return self._command(command.commands[0], session, stdin)
        self._forking += 1
        for stage in command.commands:
            stdin = self._command(stage, session.copy(), stdin)
        self._forking -= 1
        return stdin

    def _compound(self, command: Command, session: Session, stdin: Lines | None) -> Lines | None:
        if isinstance(command, Function):
            session.functions[command.name] = command.body
            return ()
        redirections = self._redirections(getattr(command, "redirects", ()), session)
        if redirections:
            self.found.append(Invocation((), redirections, session.folder))
            stdin = _fed(redirections, session, stdin)
        if isinstance(command, Group):
            return self._bodies((command.body,), session, stdin)
        if isinstance(command, Subshell):
            return self._bodies((command.body,), session.copy(), stdin)
        if isinstance(command, If):
            bodies = [body for branch in command.branches for body in branch]
            return self._bodies((*bodies, command.otherwise), session, stdin)
        if isinstance(command, While):
            return self._bodies((command.condition, command.body), session, stdin)
        if isinstance(command, Case):
            return self._bodies([item.body for item in command.items], session, stdin)
        if isinstance(command, For | Select):
            words = command.words
            values = self._values(words, session) if words is not None else session.lookup("@") or (Value(UNKNOWN),)
            said = []
            for value in values[:_MOST_ROUNDS]:
                session.variables[command.name] = (value,)
                said.append(self._bodies((command.body,), session, stdin))
            return _together(said)
        if isinstance(command, ArithmeticFor):
            return self._bodies((command.body,), session, stdin)
        return ()

    # -- a simple command

    def _simple(self, command: Simple, session: Session, stdin: Lines | None) -> Lines | None:
        words = self._values(command.words, session)
        redirections = self._redirections(command.redirects, session)
        given = {one.name: self._assigned(one, session) for one in command.assignments}
        if not words:
            session.variables.update(given)
        elif given:
            session = session.copy()
            session.variables.update(given)
        said = self.call(words, session, _fed(redirections, session, stdin), redirections)
        for one in redirections:
            if one.operator in (">", ">>", ">|", "&>", "&>>") and said is not None and len(said) < 200:
                path = absolute(one.target.text, session.folder)
                before = session.files.get(path, "") if one.operator.endswith(">>") else ""
                session.files[path] = before + "".join(f"{line.text}\n" for line in said)
                said = ()
        return said

    def _values(self, words: Sequence[Word | Assignment], session: Session) -> tuple[Value, ...]:
        values: list[Value] = []
        for word in words:
            if isinstance(word, Word):
                values += expand(word, session, self._substituted(session))
            else:
                value = self._assigned(word, session)
                values.append(Value(f"{word.name}={' '.join(each.text for each in value)}"))
        return tuple(values)

    def _substituted(self, session: Session) -> _Substitution:
        return _Substitution(self, session)

    def _assigned(self, assignment: Assignment, session: Session) -> tuple[Value, ...]:
        output = self._substituted(session)
        if isinstance(assignment.value, ArrayLiteral):
            value = tuple(each for _, word in assignment.value.items for each in expand(word, session, output))
        else:
            value = (joined(assignment.value, session, output),)
        before = session.lookup(assignment.name) or ()
        if assignment.append and not isinstance(assignment.value, ArrayLiteral):
            return (Value("".join(each.text for each in (*before, *value))),)
        return (*before, *value) if assignment.append else value

    def _redirections(self, redirects: Sequence[Redirect], session: Session) -> tuple[Redirection, ...]:
        output = self._substituted(session)
        return tuple(Redirection(one.operator, joined(one.target, session, output)) for one in redirects)

    # -- what a command's words run

    def call(
        self,
        words: tuple[Value, ...],
        session: Session,
        stdin: Lines | None,
        redirections: tuple[Redirection, ...] = (),
    ) -> Lines | None:
        """Follow one command. Returns what it prints, as far as that is known."""
        with self._deeper() as ended:
            if ended:
                return None
            if words and words[0].glob:
                name = words[0].text.rpartition("/")[2]
                words = (next((Value(one) for one in _COMMON if fnmatch.fnmatch(one, name)), words[0]), *words[1:])
            invocation = Invocation(words, redirections, session.folder)
            if not words:
                self.found += [invocation] if redirections else []
                return ()
            if not words[0].known:
                self.whole = False
                return None
            if words[0].text in session.functions:
                return self._function(words, session, stdin)
            if redirections:
                self.found.append(invocation._replace(words=()))
            return self._program_of(invocation, session, stdin)

    def _function(self, words: tuple[Value, ...], session: Session, stdin: Lines | None) -> Lines | None:
        name = words[0].text
        if name in self._calling:
            self.multiplies = self.multiplies or (self._forking > 0 and len(words) == 1)
            return None
        forking, self._forking = self._forking, 0
        self._calling.append(name)
        before = {key: session.variables.get(key) for key in ("@", "*", *map(str, range(1, 10)))}
        _set_positional(session, words[1:])
        try:
            return self._command(session.functions[name], session, stdin)
        finally:
            self._calling.pop()
            self._forking = forking
            for key, value in before.items():
                session.variables.pop(key, None)
                if value is not None:
                    session.variables[key] = value

    def _program_of(self, invocation: Invocation, session: Session, stdin: Lines | None) -> Lines | None:
        name, arguments = invocation.program, invocation.arguments
        if name in SHELLS:
            return self._shell(invocation, session, stdin)
        if name == "eval":
            return self.text(" ".join(value.text for value in arguments), session, stdin)
        if name == "trap" and arguments:
            self.text(arguments[0].text, session.copy(), None)
            return ()
        if name in TAKE_TEXT:
            told = handed_text(TAKE_TEXT[name], arguments)
            if told is not None:
                return self.text(told, session.copy(), stdin)
        if name in WRAPPERS:
            words = inner(name, arguments)
            if name in ("xargs", "parallel"):
                return self._each(arguments, words or (Value("echo"),), session, stdin)
            if words:
                return self.call(words, session if name in ("command", "builtin") else session.copy(), stdin)
        if name in LANGUAGES:
            self._script(arguments, session)
        if name == "find":
            self._found(Find.of(invocation), session)
        remember(invocation, session, stdin)
        if name in (".", "source") and arguments:
            text = session.files.get(invocation.path(arguments[0]))
            if text is not None:
                return self.text(text, session, stdin)
            session.open, self.whole = True, False
            return None
        path = invocation.path(invocation.words[0])
        if "/" in invocation.words[0].text and path in session.files:
            return self.text(session.files[path], session.copy(), stdin)
        self.found.append(invocation._replace(redirections=()))
        return printed(invocation, session, stdin)

    def _shell(self, invocation: Invocation, session: Session, stdin: Lines | None) -> Lines | None:
        told, rest = shell_text(invocation.arguments)
        session = session.copy()
        if told is not None:
            _set_positional(session, rest[1:])
            return self.text(told.text, session, stdin)
        if rest and rest[0].text != "-":
            text = session.files.get(invocation.path(rest[0]))
        else:
            text = None if stdin is None else "\n".join(line.text for line in stdin)
        if text is None:
            self.found.append(invocation)
            self.whole = False
            return None
        return self.text(text, session, None)

    def _each(
        self, arguments: Sequence[Value], words: tuple[Value, ...], session: Session, stdin: Lines | None
    ) -> Lines | None:
        """xargs: its input's words behind the command's own, or in the place that -I names."""
        lines = (Value(UNKNOWN),) if stdin is None else stdin
        pieces = tuple(line._replace(text=piece) for line in lines for piece in line.text.replace("\0", " ").split())
        texts = [value.text for value in arguments]
        place = next((texts[index + 1] for index, text in enumerate(texts[:-1]) if text == "-I"), None)
        place = place or next((text[2:] for text in texts if text.startswith("-I") and len(text) > 2), None)
        if place is None:
            return self.call((*words, *pieces), session.copy(), None)
        for piece in pieces[:_MOST_ROUNDS]:
            put = (
                value._replace(text=value.text.replace(place, piece.text), glob=value.glob or piece.glob)
                if place in value.text
                else value
                for value in words
            )
            self.call(tuple(put), session.copy(), None)
        return None

    def _found(self, search: Find, session: Session) -> None:
        for command in search.commands:
            self.call(command, session.copy(), None)

    def _script(self, arguments: Sequence[Value], session: Session) -> None:
        told = told_script(arguments)
        if told is None:
            return
        self.multiplies = self.multiplies or told.multiplies
        for text in told.shell:
            self.text(text, session.copy(), None)
        for words in told.commands:
            self.call(tuple(Value(word) for word in words), session, None)
        for path in told.written:
            self.found.append(Invocation((), (Redirection(">", Value(path)),), session.folder))


class _Substitution:
    """`$(…)` inside a word: it is followed like the rest, in a subshell."""

    def __init__(self, walk: _Walk, session: Session) -> None:
        self._walk = walk
        self._session = session

    def __call__(self, program: Program) -> Lines | None:
        return self._walk._program(program, self._session.copy(), None)


def _together(said: Sequence[Lines | None]) -> Lines | None:
    lines: list[Value] = []
    for each in said:
        if each is None:
            return None
        lines += each
    return tuple(lines)


def _fed(redirections: Sequence[Redirection], session: Session, stdin: Lines | None) -> Lines | None:
    """Standard input after redirections."""
    for operator, target in redirections:
        if operator in ("<<", "<<-", "<<<"):
            stdin = tuple(Value(line) for line in target.text.splitlines())
        elif operator == "<":
            text = session.files.get(absolute(target.text, session.folder))
            stdin = None if text is None else tuple(Value(line) for line in text.splitlines())
    return stdin


def _set_positional(session: Session, values: tuple[Value, ...]) -> None:
    session.variables["@"] = session.variables["*"] = values
    for number in range(1, 10):
        session.variables.pop(str(number), None)
    for number, value in enumerate(values[:9], start=1):
        session.variables[str(number)] = (value,)
