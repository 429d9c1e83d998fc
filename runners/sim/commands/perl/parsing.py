"""Reads a Perl program: operators by their precedence, and statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from runners.sim.commands.perl.expressions import Assign, Not
from runners.sim.commands.perl.functions import Called
from runners.sim.commands.perl.lists import defined_
from runners.sim.commands.perl.nodes import Constant, Listed, Node, Scalar
from runners.sim.commands.perl.operators import Operators
from runners.sim.commands.perl.references import MakeCode
from runners.sim.commands.perl.runtime import Runtime
from runners.sim.commands.perl.source import Source
from runners.sim.commands.perl.statements import (
    Bare,
    Block,
    CFor,
    DoBlock,
    Expression,
    ForEach,
    If,
    Nothing,
    Statement,
    While,
    caught,
)
from runners.sim.commands.perl.system import Glob, ReadLine
from runners.sim.commands.perl.terms import Terms
from runners.sim.commands.perl.values import CompileError, ModuleMissing, Value, text

_LABEL = re.compile(r"([A-Z][A-Z0-9_]*)\s*:(?!:)")
_ANONYMOUS = re.compile(r"\{\s*(?:[\w'\"]+|\$\w+)\s*(?:=>|,)|\{\s*%\$?\w+\s*[,}]")
_INC = ("/etc/perl /usr/local/lib/x86_64-linux-gnu/perl/5.36.0 /usr/local/share/perl/5.36.0 "
        "/usr/lib/x86_64-linux-gnu/perl5/5.36 /usr/share/perl5 /usr/lib/x86_64-linux-gnu/perl-base "
        "/usr/lib/x86_64-linux-gnu/perl/5.36 /usr/share/perl/5.36 /usr/local/lib/site_perl")  # fmt: skip


class Parser(Operators):
    """`subs`: named subroutines; `begins`, `ends`: BEGIN and END blocks; `preamble`: where what -M asked for ends."""

    def __init__(self, source: Source, outer: Parser | None = None) -> None:
        self.source = source
        self.terms = Terms(source, self)
        self.in_sub: int = outer.in_sub if outer is not None else 0
        self.subs: dict[str, MakeCode] = outer.subs if outer is not None else {}
        self.preamble = 0
        self.begins: list[Statement] = []
        self.ends: list[Block] = []
        if outer is not None:
            self.terms.functions = outer.terms.functions
            self.terms.say = outer.terms.say

    def term(self) -> Node:
        return self.terms.term()

    # -- texts inside texts

    def inner(self, written: str, line: int) -> Node:
        """An expression inside a text."""
        parser = Parser(Source(written, self.source.name, line), self)
        node = parser.expression()
        if not parser.source.ended:
            parser.source.fail()
        return node

    def inner_block(self, written: str, line: int) -> Node:
        """Statements inside s///e."""
        return DoBlock(Block(Parser(Source(written, self.source.name, line), self).statements()))

    def evaluated(self, argument: Node) -> Node:
        return _Evaluated(self, argument)

    def missing(self, module: str) -> None:
        path = module.replace("::", "/") + ".pm"
        place = self.source.place
        where = "" if self.source.name == "-e" and self.source.at < self.preamble else f" {place}"
        raise ModuleMissing(
            f"Can't locate {path} in @INC (you may need to install the {module} module) (@INC contains: {_INC}) "
            f"{place}.\nBEGIN failed--compilation aborted{where}.\n"
        )

    # -- statements

    def statements(self) -> list[Statement]:
        found: list[Statement] = []
        while not self.source.ended and self.source.rest() != "}":
            if self.source.take(";"):
                continue
            found.append(self.statement())
        return found

    def program(self) -> Block:
        found = self.statements()
        if not self.source.ended:
            line = self.source.line
            near = self.source.text[self.source.at :].split("\n", 1)[0]
            raise CompileError(
                f"Unmatched right curly bracket at {self.source.name} line {line}, at end of line\n"
                f'syntax error at {self.source.name} line {line}, near "{near}"\n'
                f"Execution of {self.source.name} aborted due to compilation errors.\n"
            )
        return Block(found)

    def block(self) -> Block:
        self.source.need("{")
        found = self.statements()
        if not self.source.take("}"):
            line = self.source.line
            name = self.source.name
            raise CompileError(
                f"Missing right curly or square bracket at {name} line {line}, at end of line\n"
                f"syntax error at {name} line {line}, at EOF\nExecution of {name} aborted due to compilation errors.\n"
            )
        return Block(found)

    def try_block(self) -> Block | None:
        """A block, if what stands here can be read as one; else it is an anonymous hash."""
        start = self.source.at
        if re.match(r"\{\s*(?:['\"\w]+\s*(?:=>|,)|\$\w+\s*=>|\})", self.source.text[start:]):
            return None if re.match(r"\{\s*['\"\w]+\s*=>.*?\}\s*,", self.source.text[start:]) else self.block()
        return self.block()

    def statement(self) -> Statement:
        source = self.source
        label = ""
        if (found := source.match(_LABEL)) is not None:
            label = found.rstrip(": \t\n")
        if source.rest() == "{" and _ANONYMOUS.match(source.text, source.at) is None:
            return Bare(self.block(), label)
        word = source.peek_word()
        if word in _COMPOUND and not (word == "sub" and re.match(r"sub\s*\{", source.text[source.at :])):
            source.word()
            return _COMPOUND[word](self, label)
        return self._simple()

    def _simple(self) -> Statement:
        source = self.source
        node = self.expression()
        made: Statement = Expression(node)
        while (word := source.peek_word()) in ("if", "unless", "while", "until", "for", "foreach"):
            source.word()
            test = self.expression()
            if word in ("if", "unless"):
                made = If([(test if word == "if" else Not(test), made)])
            elif word in ("while", "until"):
                test = _reading(test)
                made = While(test if word == "while" else Not(test), made, late=isinstance(node, DoBlock))
            else:
                made = ForEach(None, test, made, "")
        if not source.take(";") and not source.ended and source.rest() != "}":
            source.fail()
        return made

    def _if(self, _label: str, negated: bool = False) -> Statement:
        branches: list[tuple[Node | None, Statement]] = []
        test = self._test()
        branches.append((Not(test) if negated else test, self.block()))
        while True:
            if self.source.take("elsif"):
                branches.append((self._test(), self.block()))
            elif self.source.take("else"):
                branches.append((None, self.block()))
            else:
                return If(branches)

    def _unless(self, label: str) -> Statement:
        return self._if(label, True)

    def _test(self) -> Node:
        self.source.need("(")
        found = self.list_until(")")
        return found.parts[0] if isinstance(found, Listed) and len(found.parts) == 1 else found

    def _while(self, label: str, negated: bool = False) -> Statement:
        self.source.need("(")
        if self.source.take(")"):
            test: Node = Constant(1)
        else:
            test = _reading(self.expression())
            self.source.need(")")
        body = self.block()
        after = self.block() if self.source.take("continue") else None
        return While(Not(test) if negated else test, body, label=label, after=after)

    def _until(self, label: str) -> Statement:
        return self._while(label, True)

    def _for(self, label: str) -> Statement:
        source = self.source
        variable: Node | None = None
        if source.rest() == "$" or source.peek_word() in ("my", "our", "state"):
            variable = self.terms.term()
        source.need("(")
        if variable is None:
            start = None if source.rest() == ";" else (
                Listed([]) if source.rest() == ")" else self.expression())  # fmt: skip
            if source.take(";"):
                test = None if source.rest() == ";" else self.expression()
                source.need(";")
                step = None if source.rest() == ")" else self.expression()
                source.need(")")
                loop = While(test, self.block(), label=label, after=Expression(step) if step is not None else None)
                return CFor(Expression(start) if start is not None else None, loop)
            items = start if start is not None else Listed([])
            source.need(")")
        else:
            items = self.list_until(")")
        return ForEach(variable, items, self.block(), label)

    def _sub(self, _label: str) -> Statement:
        source = self.source
        name = source.word()
        if name is None:
            source.fail()
        assert name is not None
        self.in_sub += 1
        # It may call itself.
        self.subs.setdefault(name, MakeCode(Block(())))
        body = self.block()
        self.in_sub -= 1
        self.subs[name].body = body
        return Nothing()

    def _begin(self, _label: str) -> Statement:
        self.begins.append(self.block())
        return Nothing()

    def _end(self, _label: str) -> Statement:
        self.ends.append(self.block())
        return Nothing()

    def _use(self, _label: str) -> Statement:
        source = self.source
        found = source.match(re.compile(r"[\w:.]+"))
        if found is None:
            source.fail()
        assert found is not None
        imported: list[str] = []
        if source.rest() != ";" and not source.ended:
            rest = self.expression()
            imported = [text(value) for value in _constants(rest)]
        self.terms.use(found, imported)
        source.take(";")
        return Nothing()

    def _no(self, _label: str) -> Statement:
        self.source.match(re.compile(r"[^;]*;?"))
        return Nothing()


_COMPOUND: Mapping[str, Callable[[Parser, str], Statement]] = {
    "if": Parser._if, "unless": Parser._unless, "while": Parser._while, "until": Parser._until, "for": Parser._for,
    "foreach": Parser._for, "BEGIN": Parser._begin, "END": Parser._end, "use": Parser._use, "no": Parser._no,
    "package": Parser._no, "sub": Parser._sub,
}  # fmt: skip


def _constants(node: Node) -> list[Value]:
    if isinstance(node, Listed):
        return [value for part in node.parts for value in _constants(part)]
    return [node.value] if isinstance(node, Constant) else []


def _reading(test: Node) -> Node:
    """`while (<F>)` sets $_; `while (my $x = <F>)` goes on for what is defined, also where that is "0"."""
    if isinstance(test, ReadLine | Glob) or (isinstance(test, Called) and test.name in ("readdir", "shift")):
        if isinstance(test, Called):
            return test
        test = Assign(Scalar("$_"), test)
    if (isinstance(test, Assign) and isinstance(test.value, ReadLine | Glob)) or (
        isinstance(test, Assign) and getattr(getattr(test.value, "inner", None), "name", "") == "readdir"
    ):
        return Called("defined", defined_, [test])
    return test


class _Evaluated(Node):
    """eval "…": a text that is read while the program runs."""

    __slots__ = ("argument", "parser")

    def __init__(self, parser: Parser, argument: Node) -> None:
        super().__init__()
        self.parser = parser
        self.argument = argument

    def values(self, rt: Runtime) -> list[Value]:
        written = text(self.argument.scalar(rt))
        rt.spend(len(written))
        return caught(rt, lambda: Parser(Source(written, "(eval 1)"), self.parser).program().result(rt, True))

    def scalar(self, rt: Runtime) -> Value:
        found = self.values(rt)
        return found[-1] if found else None
