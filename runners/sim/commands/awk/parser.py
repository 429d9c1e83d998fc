"""Reads an AWK program into its tree: items and statements. Expressions are in `expressions`."""

from __future__ import annotations

from functools import lru_cache

from runners.sim.commands.awk import nodes
from runners.sim.commands.awk.expressions import ExpressionParser
from runners.sim.commands.awk.lexer import AwkError, tokenize

_SIMPLE_ENDS = frozenset({";", "newline", "}", "eof"})


@lru_cache(maxsize=256)
def parse(text: str) -> nodes.Tree:
    """The tree of a program (latin-1 text). AwkError with mawk's message for a syntax error."""
    try:
        return _Parser(tokenize(text)).program()
    except RecursionError:
        raise AwkError("program too complex") from None


class _Parser(ExpressionParser):
    """Statements and items on top of the expressions."""

    def program(self) -> nodes.Tree:
        begin: list[nodes.Block] = []
        rules: list[nodes.Rule] = []
        end: list[nodes.Block] = []
        functions: list[nodes.Function] = []
        self.skip_ends()
        while self.token.kind != "eof":
            kind = self.token.kind
            if kind == "}":
                raise AwkError(f"line {self.token.line}: extra '}}'")
            if kind in ("BEGIN", "END"):
                self.advance()
                (begin if kind == "BEGIN" else end).append(self.braces())
            elif kind == "function":
                functions.append(self.function())
            else:
                rules.append(self.rule())
            self.skip_ends()
        return nodes.Tree(tuple(begin), tuple(rules), tuple(end), tuple(functions))

    def rule(self) -> nodes.Rule:
        if self.token.kind == "{":
            return nodes.Rule(None, None, self.braces())
        first = self.expression()
        last = None
        if self.accept(","):
            self.skip_newlines()
            last = self.expression()
        if self.token.kind == "{":
            return nodes.Rule(first, last, self.braces())
        if self.token.kind not in (";", "newline", "eof"):
            self.unexpected()
        return nodes.Rule(first, last, None)

    def function(self) -> nodes.Function:
        line = self.token.line
        self.advance()
        if self.token.kind not in ("name", "call"):
            self.unexpected()
        name = self.advance().value
        self.expect("(")
        parameters: list[str] = []
        while self.token.kind != ")":
            if self.token.kind != "name":
                self.unexpected()
            parameters.append(self.advance().value)
            if self.token.kind == ",":
                self.advance()
                self.skip_newlines()
            elif self.token.kind != ")":
                self.unexpected()
        self.advance()
        self.skip_newlines()
        self.in_function = True
        body = self.braces()
        self.in_function = False
        return nodes.Function(name, tuple(parameters), body, line)

    def braces(self) -> nodes.Block:
        if self.token.kind != "{":
            self.unexpected()
        self.advance()
        self.open_braces += 1
        statements: list[nodes.Statement] = []
        self.skip_ends()
        while self.token.kind != "}":
            if self.token.kind == "eof":
                raise AwkError(f"line {self.token.line}: missing }} near end of file")
            statements.append(self.statement())
            self.skip_ends()
        self.open_braces -= 1
        self.advance()
        return nodes.Block(tuple(statements))

    def statement(self) -> nodes.Statement:
        kind = self.token.kind
        if kind == "{":
            return self.braces()
        if kind == ";":
            self.advance()
            return nodes.Block(())
        compound = {"if": self._if, "while": self._while, "do": self._do, "for": self._for}.get(kind)
        if compound is not None:
            self.advance()
            return compound()
        statement = self.simple()
        self.end_of_simple()
        return statement

    def end_of_simple(self) -> None:
        if self.token.kind not in _SIMPLE_ENDS:
            self.unexpected()
        if self.token.kind in (";", "newline"):
            self.advance()

    def body(self) -> nodes.Statement:
        self.skip_newlines()
        return self.statement()

    def _if(self) -> nodes.Statement:
        condition = self.bracketed()
        yes = self.body()
        mark = self.position
        self.skip_ends()
        if self.accept("else"):
            return nodes.If(condition, yes, self.body())
        self.rewind(mark)
        return nodes.If(condition, yes, None)

    def _while(self) -> nodes.Statement:
        condition = self.bracketed()
        if self.token.kind == ";":
            self.advance()
            return nodes.While(condition, nodes.Block(()))
        return nodes.While(condition, self._loop_body())

    def _loop_body(self) -> nodes.Statement:
        self.loops += 1
        body = self.body()
        self.loops -= 1
        return body

    def _do(self) -> nodes.Statement:
        body = self._loop_body()
        self.skip_ends()
        if self.token.kind != "while":
            self.unexpected()
        self.advance()
        condition = self.bracketed()
        self.end_of_simple()
        return nodes.DoWhile(body, condition)

    def _for(self) -> nodes.Statement:
        self.expect("(")
        kinds = [token.kind for token in self.tokens[self.position : self.position + 4]]
        if kinds == ["name", "in", "name", ")"]:
            name, _, array, _ = (self.advance() for _ in range(4))
            variable = nodes.Variable(name.value, name.line)
            return nodes.ForIn(variable, nodes.Variable(array.value, array.line), self._loop_body())
        start = None if self.token.kind == ";" else self.simple()
        self.semicolon()
        condition = None if self.token.kind == ";" else self.expression()
        self.semicolon()
        step = None if self.token.kind == ")" else self.simple()
        self.close_bracket()
        return nodes.For(start, condition, step, self._loop_body())

    def semicolon(self) -> None:
        if self.token.kind != ";":
            self.unexpected()
        self.advance()
        self.skip_newlines()

    def simple(self) -> nodes.Statement:
        """A statement that fits on a line: an expression, print, a jump."""
        token = self.token
        kind = token.kind
        if kind in ("print", "printf"):
            return self._print()
        if kind in ("break", "continue", "next", "nextfile"):
            self.advance()
            if kind in ("break", "continue") and not self.loops:
                raise AwkError(f"line {token.line}: {kind} statement outside of loop")
            return nodes.Jump(kind)
        if kind == "exit":
            self.advance()
            return nodes.Exit(None if self.token.kind in _SIMPLE_ENDS else self.expression())
        if kind == "return":
            if not self.in_function:
                raise AwkError(f"line {token.line}: return outside function body")
            self.advance()
            return nodes.Return(None if self.token.kind in _SIMPLE_ENDS else self.expression())
        if kind == "delete":
            return self._delete()
        return nodes.Evaluate(self.expression())

    def _delete(self) -> nodes.Statement:
        self.advance()
        bracketed = self.accept("(")
        if self.token.kind != "name":
            self.unexpected()
        name = self.advance()
        array = nodes.Variable(name.value, name.line)
        subscripts = self.subscripts() if self.token.kind == "[" else None
        if bracketed:
            self.close_bracket()
        return nodes.Delete(array, subscripts)

    def _print(self) -> nodes.Statement:
        token = self.advance()
        formatted = token.kind == "printf"
        arguments = self.print_arguments()
        if formatted and not arguments:
            raise AwkError(f"line {token.line}: no arguments in call to printf")
        if self.token.kind in (">", ">>", "|"):
            redirect = self.advance().kind
            return nodes.Print(formatted, arguments, redirect, self.redirect_target())
        return nodes.Print(formatted, arguments, "", None)
