"""Reads Perl expressions: operators by their precedence, lists, assignments."""

from __future__ import annotations

import re

from runners.sim.commands.perl.expressions import (
    Assign,
    Binary,
    Condition,
    Logical,
    Not,
    Range,
    Repeated,
    Step,
    Unary,
    Update,
)
from runners.sim.commands.perl.nodes import Listed, Node
from runners.sim.commands.perl.patterns import Matching, Substitution, Transliteration
from runners.sim.commands.perl.source import Source
from runners.sim.commands.perl.words import MODIFIERS

_BINARY = re.compile(
    r"\|\|=?|&&=?|//=?|\.\.\.?|<=>|<<=?|>>=?|<=|>=|==|!=|=~|!~|\*\*=?|[-+*/%.&|^<>]=?|x=(?!=)|x(?=\s*\d|\b)|"
    r"(?:eq|ne|lt|gt|le|ge|cmp|isa)\b|\?|=(?![=~>])"
)
_LEVELS: dict[str, int] = {
    **dict.fromkeys(["="], 5), "?": 6, **dict.fromkeys(["..", "..."], 7), **dict.fromkeys(["||", "//"], 8), "&&": 9,
    **dict.fromkeys(["|", "^"], 10), "&": 11, **dict.fromkeys(["==", "!=", "<=>", "eq", "ne", "cmp"], 12),
    **dict.fromkeys(["<", ">", "<=", ">=", "lt", "gt", "le", "ge"], 13), **dict.fromkeys(["<<", ">>"], 15),
    **dict.fromkeys(["+", "-", "."], 16), **dict.fromkeys(["*", "/", "%", "x"], 17),
    **dict.fromkeys(["=~", "!~"], 18), "**": 20,
}  # fmt: skip
_ASSIGNED, _NAMED_UNARY = 5, 14


class Operators:
    """The part of a parser that reads expressions; `term` reads what stands between the operators."""

    source: Source

    def term(self) -> Node:
        raise NotImplementedError

    # -- expressions, from the loosest

    def expression(self) -> Node:
        """With `or`, `and`, `not`."""
        left = self._and()
        while True:
            line = self.source.line
            if self.source.take("or"):
                left = Logical("||", left, self._and())
            elif self.source.take("xor"):
                right = self._and()
                left = Condition(left, Not(right), right)
            else:
                return left
            left.line = line

    def _and(self) -> Node:
        left = self._not()
        while self.source.take("and"):
            left = Logical("&&", left, self._not())
        return left

    def _not(self) -> Node:
        return Not(self._not()) if self.source.take("not") else self.comma()

    def comma(self) -> Node:
        first = self.item()
        if self.source.rest() != "," and self.source.rest(2) != "=>":
            return first
        return Listed([first, *self._more()])

    def _more(self) -> list[Node]:
        parts: list[Node] = []
        while self.source.take("=>") or self.source.take(","):
            if self._at_end():
                continue
            parts.append(self.item())
        return parts

    def items(self) -> Node:
        """What a function without parentheses is given."""
        if self._at_end():
            return Listed([])
        return Listed([self.item(), *self._more()])

    def arguments(self) -> Node:
        return self.items()

    def list_until(self, closing: str) -> Node:
        if self.source.take(closing):
            return Listed([])
        inner = self.expression()
        self.source.need(closing)
        if closing == ")":
            return inner if isinstance(inner, Listed) else Listed([inner])
        return inner

    def _at_end(self) -> bool:
        source = self.source
        return source.rest() in ("", ";", ")", "}", "]", ":", "?") or source.peek_word() in MODIFIERS

    def item(self) -> Node:
        return self._binary(_ASSIGNED)

    def operand(self) -> Node:
        """What a named unary operator takes."""
        return self._binary(_NAMED_UNARY)

    def _binary(self, least: int) -> Node:
        source = self.source
        left = self._unary()
        while True:
            source.blank()
            found = _BINARY.match(source.text, source.at)
            if found is None:
                return left
            symbol = found[0]
            assigned = symbol.endswith("=") and symbol not in ("==", "!=", "<=", ">=", "=")
            level = _ASSIGNED if assigned else _LEVELS.get(symbol, 0)
            if level < least or not level:
                return left
            line = source.line
            source.at = found.end()
            left = self._joined(symbol, level, left, assigned)
            left.line = line

    def _joined(self, symbol: str, level: int, left: Node, assigned: bool) -> Node:
        source = self.source
        if assigned:
            return Update(symbol[:-1], left, self._binary(_ASSIGNED))
        if symbol == "=":
            return Assign(left, self._binary(_ASSIGNED))
        if symbol == "?":
            yes = self._binary(_ASSIGNED)
            source.need(":")
            return Condition(left, yes, self._binary(_ASSIGNED))
        if symbol in ("=~", "!~"):
            return self._bound(left, self._binary(level + 1), symbol == "!~")
        right = self._binary(level if symbol == "**" else level + 1)
        if symbol in ("&&", "||", "//"):
            return Logical(symbol, left, right)
        if symbol in ("..", "..."):
            return Range(left, right, symbol == "...")
        if symbol == "x" and isinstance(left, Listed):
            return Repeated(left, right)
        return Binary(symbol, left, right)

    def _bound(self, target: Node, pattern: Node, negated: bool) -> Node:
        if isinstance(target, Listed) and len(target.parts) == 1:
            target = target.parts[0]
        if isinstance(pattern, Substitution):
            pattern.matching.target = target
        elif isinstance(pattern, Matching | Transliteration):
            pattern.target = target
        else:
            pattern = Matching(pattern, "", target)
        pattern.line = self.source.line
        return Not(pattern) if negated else pattern

    def _unary(self) -> Node:
        source = self.source
        line = source.line
        if source.rest(2) in ("++", "--"):
            by = 1 if source.rest(2) == "++" else -1
            source.at += 2
            return Step(self._unary(), by, False)
        char = source.rest()
        if char == "!" and source.rest(2) != "!~":
            source.at += 1
            return Not(self._unary())
        if char == "~" or (char == "-" and not self._file_test()):
            source.at += 1
            return Unary(char, self._binary(19))
        if char == "+":
            source.at += 1
            return self._unary()
        node = self.term()
        node.line = node.line or line
        if source.text[source.at : source.at + 2] in ("++", "--"):
            by = 1 if source.text[source.at] == "+" else -1
            source.at += 2
            node = Step(node, by, True)
        return node

    def _file_test(self) -> bool:
        """Is this minus the beginning of -e and its like?"""
        return re.match(r"-[a-zA-Z](?!\w)(?!\s*=>)", self.source.text[self.source.at :]) is not None
