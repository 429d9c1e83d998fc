"""Reads the terms of Perl expressions: variables, literals, quotes, calls."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import ClassVar

from runners.sim.commands.perl.functions import LISTS, MODULES, QUIET, Called, LocalTime
from runners.sim.commands.perl.nodes import ArrayNode, CallCode, Constant, Declared, Listed, Node, Scalar, Slice
from runners.sim.commands.perl.references import Command, Jump, MakeCode, MakeReference
from runners.sim.commands.perl.runtime import Runtime
from runners.sim.commands.perl.source import unescaped
from runners.sim.commands.perl.statements import DoBlock
from runners.sim.commands.perl.system import PATHS, SYSTEM_LISTS, FileTest, Glob, Print
from runners.sim.commands.perl.values import CompileError, Value
from runners.sim.commands.perl.variables import Variables
from runners.sim.commands.perl.words import (
    ARRAY_FIRST,
    DEFAULT_TOPIC,
    MODIFIERS,
    NOTHING_FOLLOWS,
    OPERATORS,
    QUOTES,
    UNARY,
    UNIMPLEMENTED,
)
from runners.text import is_digits

_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|0[bB][01_]+|(?:\d[\d_]*)?\.?\d[\d_]*(?:[eE][-+]?\d+)?|\d[\d_]*\.(?!\.)")
_TYPEGLOB = re.compile(r"\*(?=[A-Z])")
_BAREWORD_ARROW = re.compile(r"\s*=>")
_NAMED_HANDLE = re.compile(r"(STDOUT|STDERR|STDIN|[A-Z][A-Z0-9_]*)\b(?!\s*[(,.=;]|::)")
_SCALAR_HANDLE = re.compile(
    r"\$[A-Za-z_]\w*\s+(?=[\"'$@\w\\<])"
    r"(?!x\b|eq\b|ne\b|cmp\b|and\b|or\b|if\b|unless\b|for\b|foreach\b|lt\b|gt\b|le\b|ge\b)"
)
_FILE_TEST = re.compile(r"-([edfrwxszlpSbcMACt])(?=\s+[\"'$\w/]|\s*[\"'$(]|\s*$)(?!\s*=>|\s+=)")


class Terms(Variables):
    """All terms: by their first character, or by the word that they begin with."""

    # -- modules

    def use(self, module: str, imported: list[str]) -> None:
        """use: brings in a module's functions. CompileError when it is not there."""
        if module in QUIET or is_digits(module[:1]) or module.startswith("v5"):
            self.say = self.say or module not in QUIET or module == "feature"
            return
        offered = PATHS if module == "File::Basename" else MODULES.get(module)
        if offered is None:
            self.parser.missing(module)
        assert offered is not None
        for name in imported or (offered if module in ("POSIX", "File::Basename") else ()):
            if name in offered:
                self.functions[name] = offered[name]

    # -- one term

    def term(self) -> Node:
        source = self.source
        char = source.rest()
        line = source.line
        node = self._term(char)
        node.line = node.line or line
        return self._subscripts(node)

    def _term(self, char: str) -> Node:
        source = self.source
        if char in "$@%&" and char:
            return self._variable(char)
        if is_digits(char) or (char == "." and is_digits(source.rest(2)[1:])):
            return Constant(_numeral(source.match(_NUMBER) or "0"))
        if char == '"':
            raw, _ = source.quoted()
            return self.interpolated(raw)
        if char == "'":
            return Constant(unescaped(*source.quoted()))
        if char == "`":
            return Command(self.interpolated(source.quoted()[0]))
        if char == "/":
            return self._pattern()
        if char == "(":
            return self._parenthesised()
        if char == "[":
            source.need("[")
            inner = self.parser.list_until("]")
            return MakeReference("[", inner)
        if char == "{":
            source.need("{")
            return MakeReference("{", self.parser.list_until("}"))
        if char == "<":
            return self._angle()
        if char == "\\":
            source.need("\\")
            return MakeReference("\\", self.term())
        if char == "-" and source.match(_FILE_TEST) is not None:
            return FileTest(source.text[source.at - 1], self._argument_or_topic())
        if char == "*" and source.match(_TYPEGLOB) is not None:
            return Constant(source.word() or "")
        if char.isalpha() or char == "_":
            return self._word()
        source.fail()
        raise AssertionError

    def _argument_or_topic(self) -> Node:
        return Scalar("$_") if self.source.rest() in ("", ")", ";", "}", "&", "|", "?", ":") else self.term()

    def _parenthesised(self) -> Node:
        source = self.source
        source.need("(")
        inner = self.parser.list_until(")")
        if source.rest() == "[":
            source.need("[")
            return Slice(inner, self.parser.list_until("]"))
        return inner

    # -- words

    def _word(self) -> Node:
        source = self.source
        start = source.at
        word = source.word() or ""
        if _BAREWORD_ARROW.match(source.text, source.at):
            return Constant(word)
        if word in QUOTES and (
            source.text.startswith("#", source.at)
            or source.rest() not in ("", ",", ";", ")", "=")
            or (source.text.startswith("=", source.at) and not source.text.startswith("=>", source.at))
        ):
            return self._quote(word)
        special = self._SPECIAL.get(word)
        if special is not None:
            return special(self, word)
        if word in ("print", "printf") or (word == "say" and self.say):
            return self._print(word)
        if word in self.functions and word not in self.parser.subs:
            return self._function(word)
        if word.startswith(("POSIX::", "List::Util::")):
            module, _, name = word.rpartition("::")
            if name in MODULES[module]:
                self.functions[word] = MODULES[module][name]
                return self._function(word)
        if word in ("STDIN", "STDOUT", "STDERR", "ARGV"):
            return Constant(word)
        if source.rest() == "(" and word not in UNIMPLEMENTED:
            return CallCode(word, self._call_arguments())
        if word in self.parser.subs:
            return CallCode(word, self.parser.arguments())
        if word in UNIMPLEMENTED:
            raise CompileError(f"The {word} function is unimplemented {source.place}.\n")
        if word.isupper():
            return Constant(word)
        source.at = start
        source.fail()
        raise AssertionError

    def _declared(self, word: str) -> Node:
        source = self.source
        how = "our" if word in ("our", "state") else word
        if source.rest() == "(":
            source.need("(")
            inner = self.parser.list_until(")")
            return Declared(how, [one for one in inner.parts if not isinstance(one, Called)]
                            if isinstance(inner, Listed) else [inner], True)  # fmt: skip
        return Declared(how, [self.term()], False)

    def _jump(self, word: str) -> Node:
        source = self.source
        if word == "return":
            ended = source.rest() in (";", "}", "", ")") or source.peek_word() in MODIFIERS
            return Jump("return", "", None if ended else self.parser.expression())
        label = "" if source.peek_word() in MODIFIERS else source.word() or ""
        return Jump(word, label, None)

    def _do(self, _word: str) -> Node:
        return DoBlock(self.parser.block())

    def _eval(self, _word: str) -> Node:
        if self.source.rest() == "{":
            return DoBlock(self.parser.block(), caught=True)
        return self.parser.evaluated(self._argument_or_topic())

    def _sub(self, _word: str) -> Node:
        return MakeCode(self.parser.block())

    def _time(self, _word: str) -> Node:
        return LocalTime(self._arguments(_word))

    def _glob(self, _word: str) -> Node:
        arguments = self._arguments("glob")
        return Glob(arguments[0] if arguments else Scalar("$_"))

    def _qualified(self, word: str) -> Node:
        return Constant({"__FILE__": self.source.name, "__LINE__": self.source.line, "__PACKAGE__": "main"}[word])

    def _ordered(self, word: str) -> Node:
        """map, grep, sort, first: a block or an expression, then a list."""
        source = self.source
        parenthesised = source.take("(")
        order: Node = Constant(None)
        if source.rest() == "{" and (block := self.parser.try_block()) is not None:
            order = DoBlock(block)
            source.take(",")
        elif word == "sort":
            if source.rest() == "$" and re.match(r"\$\w+\s+[@(\w]", source.text[source.at :]):
                order = self.term()
            elif source.peek_word() in self.parser.subs:
                order = CallCode(source.word() or "", Listed(()))
        else:
            order = self.parser.item()
            source.need(",")
        items = self.parser.list_until(")") if parenthesised else self.parser.items()
        return Called(word, self.functions[word], [order, items])

    _SPECIAL: ClassVar[dict[str, Callable[[Terms, str], Node]]] = {
        "my": _declared, "our": _declared, "local": _declared, "state": _declared, "next": _jump, "last": _jump,
        "return": _jump, "do": _do, "eval": _eval, "sub": _sub, "localtime": _time, "gmtime": _time, "glob": _glob,
        "map": _ordered, "grep": _ordered, "sort": _ordered, "__FILE__": _qualified, "__LINE__": _qualified,
        "__PACKAGE__": _qualified,
    }  # fmt: skip

    def _print(self, how: str) -> Node:
        source = self.source
        # `print (…)` is a call, whatever follows.
        parenthesised = source.rest() == "("
        if parenthesised:
            source.need("(")
        target: Node | None = None
        if source.rest() == "{" and (block := self.parser.try_block()) is not None:
            target = DoBlock(block)
        elif source.rest().isupper() and (named := source.match(_NAMED_HANDLE)) is not None:
            target = Constant(named)
        elif source.rest() == "$" and (variable := source.match(_SCALAR_HANDLE)) is not None:
            target = Scalar(variable.strip())
        inner = self.parser.list_until(")") if parenthesised else self.parser.items()
        empty = isinstance(inner, Listed) and not inner.parts
        return Print(how, target, [Scalar("$_")] if empty else [inner])

    def _function(self, word: str) -> Node:
        source = self.source
        if word in ("first", "any", "all", "none") and source.rest() in ("{", "("):
            return self._ordered(word)
        if word == "eof" and source.rest(2) == "()":
            source.need("()")
            return Called(word, self.functions[word], [Constant("()")])
        arguments = self._arguments(word)
        if not arguments and word in DEFAULT_TOPIC:
            arguments = [Scalar("$_")]
        if not arguments and word in ("shift", "pop"):
            arguments = [ArrayNode("@_" if self.parser.in_sub else "@ARGV")]
        if word in ARRAY_FIRST and not isinstance(arguments[0], ArrayNode):
            source.fail(f'Experimental {word} on scalar is now forbidden {source.place}, near "{source.rest(10)}"')
        made = Called(word, self.functions[word], arguments)
        return _Many(made) if word in SYSTEM_LISTS and word not in LISTS else made

    def _arguments(self, word: str) -> list[Node]:
        source = self.source
        if source.rest() == "(":
            source.need("(")
            inner = self.parser.list_until(")")
        elif word in UNARY:
            if source.rest() in NOTHING_FOLLOWS or (source.peek_word() in MODIFIERS or source.peek_word() in OPERATORS):
                return []
            return [self.parser.operand()]
        else:
            inner = self.parser.items()
        return list(inner.parts) if isinstance(inner, Listed) else [inner]


class _Many(Node):
    """A function of the system that gives a list."""

    __slots__ = ("inner",)
    many = True

    def __init__(self, inner: Called) -> None:
        super().__init__()
        self.inner = inner

    def values(self, rt: Runtime) -> list[Value]:
        return [*self.inner.scalar(rt)]

    def scalar(self, rt: Runtime) -> Value:
        found = self.inner.scalar(rt)
        return (found.pop(0) if found else None) if self.inner.name == "readdir" else 1 if found else ""


def _numeral(digits: str) -> int | float:
    plain = digits.replace("_", "")
    if plain[:2] in ("0x", "0X", "0b", "0B"):
        return int(plain, 0)
    if is_digits(plain):
        return int(plain, 8) if plain[0] == "0" and len(plain) > 1 and plain.strip("01234567") == "" else int(plain)
    return float(plain)
