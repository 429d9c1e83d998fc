"""Reads variables with their subscripts, and everything that quotes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from runners.sim.commands.perl.functions import FUNCTIONS, Called, Function
from runners.sim.commands.perl.interpolation import Interpolation
from runners.sim.commands.perl.nodes import (
    ArrayNode,
    CallCode,
    Constant,
    DerefArray,
    DerefHash,
    DerefScalar,
    HashNode,
    Index,
    Item,
    LastIndex,
    Listed,
    Node,
    Scalar,
    Slice,
    Special,
)
from runners.sim.commands.perl.patterns import Matching, Quoted, Substitution, Transliteration, transliterator
from runners.sim.commands.perl.references import Command
from runners.sim.commands.perl.source import Source, unescaped
from runners.sim.commands.perl.system import SYSTEM, Glob, Print, ReadLine
from runners.sim.commands.perl.values import CompileError
from runners.text import is_digits

if TYPE_CHECKING:
    from runners.sim.commands.perl.parsing import Parser

_VARIABLE = re.compile(r"(?:::)?[A-Za-z_]\w*(?:::\w+)*|\d+|\^\w|[&`'+!@/\\,;.?0\"|$]|_")
_SIMPLE_KEY = re.compile(r"\s*(-?[A-Za-z_]\w*)\s*\}")
_HANDLE = re.compile(r"<(\$?[A-Za-z_]\w*|)>")
_GLOB = re.compile(r"<([^<>\n=]+)>")
_HEREDOC = re.compile(r"<<(~?)(?:\"([^\"\n]*)\"|'([^'\n]*)'|([A-Za-z_]\w*))")


class Variables:
    """`parser` gives whole expressions and blocks. `functions`: what imported modules and the language itself offer."""

    def __init__(self, source: Source, parser: Parser) -> None:
        self.source = source
        self.parser = parser
        self.functions: dict[str, Function] = {**FUNCTIONS, **SYSTEM}
        self.say = False

    # -- variables

    def _variable(self, sigil: str) -> Node:
        source = self.source
        source.at += 1
        if sigil == "&":
            name = source.word()
            code: Node | str = name if name else self._block_or_scalar()
            arguments = self._call_arguments() if source.rest() == "(" else ArrayNode("@_")
            return CallCode(code, arguments)
        if sigil == "$" and source.text.startswith("#", source.at):
            following = source.text[source.at + 1 : source.at + 2]
            if following and (following in "{$_" or following.isalpha()):
                source.at += 1
                return LastIndex(self._array())
        if sigil == "@":
            return self._array_or_slice()
        if sigil == "%":
            if source.text[source.at : source.at + 1] in ("{", "$"):
                return DerefHash(self._block_or_scalar())
            if source.text.startswith("+", source.at):
                source.at += 1
            return HashNode("%" + self._name())
        return self._scalar()

    def _name(self) -> str:
        """A variable's name, right behind its sigil."""
        source = self.source
        found = _VARIABLE.match(source.text, source.at)
        if found is None:
            source.fail()
        assert found is not None
        source.at = found.end()
        return found[0].removeprefix("main::").removeprefix("::")

    def _scalar(self) -> Node:
        source = self.source
        start = source.text[source.at : source.at + 1]
        following = source.text[source.at + 1 : source.at + 2]
        if start == "{" or (start == "$" and following and (following in "{$_" or following.isalpha())):
            inner = self._block_or_scalar()
            return self._element(DerefArray(inner), DerefHash(inner), DerefScalar(inner))
        name = self._name()
        plain: Node = Special(name) if (is_digits(name) and name != "0") or name in "&`'+.!?$" else Scalar("$" + name)
        return self._element(ArrayNode("@" + name), HashNode("%" + name), plain)

    def _element(self, array: ArrayNode, table: HashNode, plain: Node) -> Node:
        source = self.source
        if source.text.startswith("[", source.at):
            source.need("[")
            return Index(array, self.parser.list_until("]"))
        if source.text.startswith("{", source.at):
            return Item(table, self._key())
        return plain

    def _key(self) -> Node:
        """{word}, {"text"} or {an expression}."""
        source = self.source
        source.need("{")
        found = _SIMPLE_KEY.match(source.text, source.at)
        if found is not None:
            source.at = found.end()
            return Constant(found[1])
        return self.parser.list_until("}")

    def _block_or_scalar(self) -> Node:
        """What stands behind a sigil to be dereferenced: {…} or $x."""
        source = self.source
        if source.text.startswith("{", source.at):
            source.need("{")
            return self.parser.list_until("}")
        source.at += 1
        if source.text[source.at : source.at + 1] == "$":
            return DerefScalar(self._block_or_scalar())
        return Scalar("$" + self._name())

    def _array(self) -> ArrayNode:
        source = self.source
        if source.text[source.at : source.at + 1] in ("{", "$"):
            return DerefArray(self._block_or_scalar())
        return ArrayNode("@" + self._name())

    def _array_or_slice(self) -> Node:
        source = self.source
        array = self._array()
        if source.text.startswith("[", source.at):
            source.need("[")
            return Slice(array, self.parser.list_until("]"))
        if source.text.startswith("{", source.at):
            source.need("{")
            table = DerefHash(array.inner) if isinstance(array, DerefArray) else HashNode("%" + array.name[1:])
            return Slice(table, self.parser.list_until("}"))
        return array

    def _subscripts(self, node: Node) -> Node:
        """->[…], ->{…}, ->(…), ->@*, and [ or { right behind another subscript."""
        source = self.source
        while True:
            line = source.line
            chained = isinstance(node, Index | Item | CallCode) and source.text[source.at : source.at + 1] in ("[", "{")
            if not chained:
                if source.rest(2) != "->":
                    return node
                source.need("->")
            if source.take("@*"):
                node = DerefArray(node)
            elif source.take("%*"):
                node = DerefHash(node)
            elif source.take("$*"):
                node = DerefScalar(node)
            elif source.rest() == "[":
                source.need("[")
                node = Index(DerefArray(node), self.parser.list_until("]"))
            elif source.rest() == "{":
                node = Item(DerefHash(node), self._key())
            elif source.rest() == "(":
                node = CallCode(node, self._call_arguments())
            else:
                node = self._method(node)
            node.line = line

    def _method(self, node: Node) -> Node:
        """->name(…): of file handles only, as there are no classes."""
        source = self.source
        name = source.word()
        if name is None:
            source.fail()
        arguments = self._call_arguments() if source.rest() == "(" else Listed([])
        if name in ("autoflush", "flush", "binmode"):
            return Constant(1)
        if name in ("print", "printf", "say"):
            return Print(name, node, [arguments])
        if name == "close":
            return Called("close", self.functions["close"], [node])
        if name == "getline":
            return ReadLine(node, "")
        via = f'package "{node.value}"' if isinstance(node, Constant) else "an unblessed reference"
        raise CompileError(f'Can\'t locate object method "{name}" via {via} {source.place}.\n')

    def _call_arguments(self) -> Node:
        self.source.need("(")
        return self.parser.list_until(")")

    # -- quotes

    def interpolated(self, raw: str, *, pattern: bool = False) -> Node:
        line = self.source.line
        return Interpolation(raw, lambda text: self.parser.inner(text, line), pattern=pattern).run()

    def _pattern(self, flags: str | None = None) -> Node:
        source = self.source
        raw, delimiter = source.quoted()
        flags = source.flags() if flags is None else flags
        return Matching(self._regex(raw, delimiter), flags, Scalar("$_"))

    def _regex(self, raw: str, delimiter: str) -> Node:
        if delimiter not in "/'{([<":
            raw = raw.replace("\\" + delimiter, delimiter if delimiter in '#!,@%~;:=&"-' else "\\" + delimiter)
        return Constant(raw) if delimiter == "'" else self.interpolated(raw, pattern=True)

    def _quote(self, word: str) -> Node:
        source = self.source
        if word == "m":
            return self._pattern()
        raw, delimiter = source.quoted()
        if word == "q":
            return Constant(unescaped(raw, delimiter))
        if word == "qq":
            return self.interpolated(raw)
        if word == "qw":
            return Listed([Constant(one) for one in raw.split()])
        if word == "qx":
            return Command(self.interpolated(raw))
        if word == "qr":
            return Quoted(self._regex(raw, delimiter), source.flags())
        line = source.line
        second = source.second(delimiter)
        flags = source.flags()
        if word in ("tr", "y"):
            return Transliteration(transliterator(raw, second, flags), flags, Scalar("$_"))
        matching = Matching(self._regex(raw, delimiter), flags.replace("e", ""), Scalar("$_"))
        matching.line = line
        if "e" in flags:
            replacement: Node = self.parser.inner_block(second, line)
        else:
            replacement = Constant(second) if delimiter == "'" else self.interpolated(second)
        return Substitution(matching, replacement, flags)

    def _angle(self) -> Node:
        source = self.source
        document = source.match(_HEREDOC)
        if document is not None:
            found = _HEREDOC.fullmatch(document)
            assert found is not None
            tag = next(one for one in found.groups()[1:] if one is not None)
            body = source.heredoc(tag, bool(found[1]))
            return Constant(body) if found[3] is not None else self.interpolated(body)
        handle = source.match(_HANDLE)
        if handle is not None:
            name = handle[1:-1]
            if name.startswith("$"):
                return ReadLine(Scalar(name), name)
            return ReadLine(Constant(name or "ARGV"), name)
        pattern = source.match(_GLOB)
        if pattern is None:
            source.fail()
        assert pattern is not None
        return Glob(self.interpolated(pattern[1:-1]))
