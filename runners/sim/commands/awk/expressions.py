"""Reads the expressions of an AWK program, loosest operators first."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from runners.sim.commands.awk import nodes
from runners.sim.commands.awk.lexer import AwkError, Token

_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "^="})
_COMPARISONS = frozenset({"<", "<=", "==", "!=", ">", ">="})
_BEGINS_OPERAND = frozenset(
    {"number", "string", "regex", "name", "call", "builtin", "$", "!", "(", "-", "+", "++", "--"}
)


class ExpressionParser:
    """Walks the tokens. `no_greater`: inside print's list `>` redirects."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.position = 0
        self.token = tokens[0]
        self.no_greater = False
        self.in_function = False
        self.loops = 0
        self.open_braces = 0

    # -- tokens

    def advance(self) -> Token:
        token = self.token
        if token.kind != "eof":
            self.position += 1
            self.token = self.tokens[self.position]
        return token

    def rewind(self, position: int) -> None:
        self.position = position
        self.token = self.tokens[position]

    def accept(self, kind: str) -> bool:
        if self.token.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str) -> Token:
        if self.token.kind != kind:
            self.unexpected()
        return self.advance()

    def skip_newlines(self) -> None:
        while self.token.kind == "newline":
            self.advance()

    def skip_ends(self) -> None:
        while self.token.kind in ("newline", ";"):
            self.advance()

    def unexpected(self) -> NoReturn:
        token = self.token
        at_end = token.kind == "eof" or (token.kind == "newline" and self.tokens[self.position + 1].kind == "eof")
        if at_end and self.open_braces:
            raise AwkError(f"line {self.tokens[-1].line}: missing }} near end of file")
        raise AwkError(f"line {token.line}: syntax error at or near {token.text}")

    def close_bracket(self) -> None:
        if self.token.kind != ")":
            if self.token.kind == "}":
                raise AwkError(f"line {self.token.line}: missing ) near }}")
            self.unexpected()
        self.advance()

    # -- lists

    def bracketed(self) -> nodes.Expression:
        self.expect("(")
        inner = self.free(self.expression)
        self.close_bracket()
        return inner

    def free(self, read: Callable[[], nodes.Expression]) -> nodes.Expression:
        """Inside brackets `>` compares."""
        before = self.no_greater
        self.no_greater = False
        result = read()
        self.no_greater = before
        return result

    def arguments(self) -> tuple[nodes.Expression, ...]:
        """`(a, b, …)`."""
        self.expect("(")
        before = self.no_greater
        self.no_greater = False
        found: list[nodes.Expression] = []
        self.skip_newlines()
        if self.token.kind != ")":
            found.append(self.expression())
            while self.accept(","):
                self.skip_newlines()
                found.append(self.expression())
            self.skip_newlines()
        self.no_greater = before
        self.close_bracket()
        return tuple(found)

    def subscripts(self) -> tuple[nodes.Expression, ...]:
        self.expect("[")
        before = self.no_greater
        self.no_greater = False
        found = [self.expression()]
        while self.accept(","):
            self.skip_newlines()
            found.append(self.expression())
        self.no_greater = before
        self.expect("]")
        return tuple(found)

    def print_arguments(self) -> tuple[nodes.Expression, ...]:
        """What print prints: a list, perhaps in brackets, up to a redirection or the end."""
        if self.token.kind in (";", "newline", "}", ">", ">>", "|", "eof"):
            return ()
        if self.token.kind == "(":
            mark = self.position
            listed = self.arguments()
            if self.token.kind in (";", "newline", "}", ">", ">>", "|", "eof"):
                return listed
            self.rewind(mark)
        self.no_greater = True
        found = [self.expression()]
        while self.accept(","):
            self.skip_newlines()
            found.append(self.expression())
        self.no_greater = False
        return tuple(found)

    def redirect_target(self) -> nodes.Expression:
        self.no_greater = True
        target = self.ternary()
        self.no_greater = False
        return target

    # -- expressions, loosest first

    def expression(self) -> nodes.Expression:
        left = self.ternary()
        if self.token.kind in _ASSIGNMENTS and isinstance(left, nodes.Variable | nodes.Field | nodes.Element):
            operator = self.advance().kind[:-1]
            self.skip_newlines()
            return nodes.Assign(operator, left, self.expression())
        return left

    def ternary(self) -> nodes.Expression:
        condition = self.disjunction()
        if not self.accept("?"):
            return condition
        self.skip_newlines()
        yes = self.expression()
        self.skip_newlines()
        self.expect(":")
        self.skip_newlines()
        return nodes.Conditional(condition, yes, self.expression())

    def disjunction(self) -> nodes.Expression:
        left = self.conjunction()
        while self.accept("||"):
            self.skip_newlines()
            left = nodes.Logical("||", left, self.conjunction())
        return left

    def conjunction(self) -> nodes.Expression:
        left = self.membership()
        while self.accept("&&"):
            self.skip_newlines()
            left = nodes.Logical("&&", left, self.membership())
        return left

    def membership(self) -> nodes.Expression:
        left = self.matching()
        while self.token.kind == "in":
            self.advance()
            name = self.expect("name")
            left = nodes.Membership((left,), nodes.Variable(name.value, name.line))
        return left

    def matching(self) -> nodes.Expression:
        left = self.comparison()
        while self.token.kind in ("~", "!~"):
            negated = self.advance().kind == "!~"
            left = nodes.Matching(left, self.comparison(), negated)
        return left

    def comparison(self) -> nodes.Expression:
        left = self.concatenation()
        while self.token.kind in _COMPARISONS and not (self.token.kind == ">" and self.no_greater):
            operator = self.advance().kind
            left = nodes.Binary(operator, left, self._assignable(self.concatenation()))
        return left

    def _assignable(self, left: nodes.Expression) -> nodes.Expression:
        """`1 == x = 2` and `a && b = 3`: an assignment may stand where its variable ends an operator's right side."""
        if self.token.kind in _ASSIGNMENTS and isinstance(left, nodes.Variable | nodes.Field | nodes.Element):
            operator = self.advance().kind[:-1]
            self.skip_newlines()
            return nodes.Assign(operator, left, self.expression())
        return left

    def concatenation(self) -> nodes.Expression:
        parts = [self.additive()]
        while self.token.kind in _BEGINS_OPERAND and self.token.kind not in ("-", "+"):
            parts.append(self.additive())
        return parts[0] if len(parts) == 1 else nodes.Concatenation(tuple(parts))

    def additive(self) -> nodes.Expression:
        left = self.multiplicative()
        while self.token.kind in ("+", "-"):
            operator = self.advance().kind
            left = nodes.Binary(operator, left, self.multiplicative())
        return left

    def multiplicative(self) -> nodes.Expression:
        left = self.unary()
        while self.token.kind in ("*", "/", "%"):
            operator = self.advance().kind
            left = nodes.Binary(operator, left, self.unary())
        return left

    def unary(self) -> nodes.Expression:
        if self.token.kind in ("!", "-", "+"):
            operator = self.advance().kind
            return nodes.Unary(operator, self._assignable(self.unary()) if operator == "!" else self.unary())
        return self.piped()

    def piped(self) -> nodes.Expression:
        left = self.power()
        while self.token.kind == "|" and self.tokens[self.position + 1].kind == "getline":
            self.advance()
            self.advance()
            left = nodes.Getline("command", self.lvalue(), left)
        return left

    def power(self) -> nodes.Expression:
        base = self.postfix()
        if not self.accept("^"):
            return base
        if self.token.kind in ("-", "+", "!"):
            operator = self.advance().kind
            return nodes.Binary("^", base, nodes.Unary(operator, self.power()))
        return nodes.Binary("^", base, self.power())

    def postfix(self) -> nodes.Expression:
        if self.token.kind in ("++", "--"):
            by = 1 if self.advance().kind == "++" else -1
            target = self.primary()
            if not isinstance(target, nodes.Variable | nodes.Field | nodes.Element):
                self.unexpected()
            return nodes.Increment(target, by, True)
        operand = self.primary()
        if self.token.kind in ("++", "--") and isinstance(operand, nodes.Variable | nodes.Field | nodes.Element):
            return nodes.Increment(operand, 1 if self.advance().kind == "++" else -1, False)
        return operand

    def lvalue(self) -> nodes.Expression | None:
        """The variable after getline, if there is one."""
        if self.token.kind == "$" or self.token.kind == "name":
            return self.primary()
        return None

    def primary(self) -> nodes.Expression:
        token = self.token
        kind = token.kind
        if kind == "number":
            self.advance()
            value = int(token.value, 16) if token.value[:2] in ("0x", "0X") else float(token.value)
            return nodes.Number(float(value))
        if kind == "string":
            self.advance()
            return nodes.String(token.value)
        if kind == "regex":
            self.advance()
            return nodes.RegexLiteral(token.value)
        if kind == "$":
            self.advance()
            if self.token.kind in ("-", "+", "!"):
                return nodes.Field(nodes.Unary(self.advance().kind, self.postfix()))
            if self.token.kind in ("++", "--") or self.token.value == "NF":
                return nodes.Field(self.postfix())
            return nodes.Field(self.primary())
        if kind == "(":
            return self._group()
        if kind == "name":
            self.advance()
            variable = nodes.Variable(token.value, token.line)
            return nodes.Element(variable, self.subscripts()) if self.token.kind == "[" else variable
        if kind == "call":
            self.advance()
            return nodes.Call(token.value, self.arguments(), token.line)
        if kind == "builtin":
            self.advance()
            arguments = self.arguments() if self.token.kind == "(" else None
            if arguments is None and token.value != "length":
                self.unexpected()
            return nodes.Builtin(token.value, arguments, token.line)
        if kind == "getline":
            self.advance()
            target = self.lvalue()
            if self.accept("<"):
                return nodes.Getline("file", target, self.postfix())
            return nodes.Getline("main", target, None)
        return self.unexpected()

    def _group(self) -> nodes.Expression:
        listed = self.arguments()
        if len(listed) == 1:
            return nodes.Grouping(listed[0])
        if not listed or self.token.kind != "in":
            self.unexpected()
        self.advance()
        name = self.expect("name")
        return nodes.Membership(listed, nodes.Variable(name.value, name.line))
