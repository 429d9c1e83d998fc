"""Turns the statements and rules of an AWK program into closures, and the whole into something that runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

from runners.sim.commands.awk import nodes
from runners.sim.commands.awk.analysis import analyse
from runners.sim.commands.awk.arrays import Array
from runners.sim.commands.awk.compiling import ExpressionCompiler, Invoke
from runners.sim.commands.awk.formatting import sprintf
from runners.sim.commands.awk.parser import parse
from runners.sim.commands.awk.runtime import CONVFMT, OFMT, OFS, ORS, Runtime
from runners.sim.commands.awk.values import Value, number, string

BREAK, CONTINUE, RETURN = 1, 2, 3
Run = Callable[[Runtime], int]
"""A statement: 0, or how the surrounding ones are left."""


class Next(Exception):  # noqa: N818 (not an error)
    """next, or nextfile."""

    def __init__(self, file: bool) -> None:
        super().__init__(file)
        self.file = file


class Exit(Exception):  # noqa: N818 (not an error)
    """exit. `status` None: it gave no number."""

    def __init__(self, status: int | None) -> None:
        super().__init__(status)
        self.status = status


class Program:
    """A compiled program; it keeps nothing of a run. `pattern` of a range rule is its own small machine."""

    __slots__ = ("arrays", "begin", "end", "rules", "slots")

    def __init__(
        self, begin: list[Run], rules: list[Callable[[Runtime, set[int]], None]], end: list[Run], slots: dict[str, int],
        arrays: tuple[str, ...],
    ) -> None:  # fmt: skip
        self.begin = begin
        self.rules = rules
        self.end = end
        self.slots = slots
        self.arrays = arrays


@lru_cache(maxsize=256)
def compile_program(text: str, assigned: tuple[str, ...]) -> Program:
    """Compile latin-1 program text. `assigned`: names that -v or operands set."""
    tree = parse(text)
    names = analyse(tree, text.count("\n") + 2)
    for name in assigned:
        if name not in names.arrays:
            names.slots.setdefault(name, len(names.slots))
    functions = {function.name: function for function in tree.functions}
    compiler = StatementCompiler(names, functions)
    for function in tree.functions:
        compiler.function(function)
    begin = [compiler.statement(block) for block in tree.begin]
    rules = [compiler.rule(rule, index) for index, rule in enumerate(tree.rules)]
    end = [compiler.statement(block) for block in tree.end]
    return Program(begin, rules, end, names.slots, names.arrays)


class StatementCompiler(ExpressionCompiler):
    def function(self, function: nodes.Function) -> None:
        self.scope = function.name
        body = self.statement(function.body)
        self.scope = ""

        def invoke(rt: Runtime, frame: list[Value | Array]) -> Value:
            before = rt.frame
            rt.frame = frame
            rt.result = None
            body(rt)
            rt.frame = before
            result, rt.result = rt.result, None
            return result

        made: Invoke = invoke
        self.invoke[function.name] = made

    def rule(self, rule: nodes.Rule, index: int) -> Callable[[Runtime, set[int]], None]:
        """Runs the rule's action if its pattern holds. The set has the range rules that are open."""
        action = _print_record if rule.action is None else self.statement(rule.action)
        if rule.first is None:
            return lambda rt, _open: _drop(action(rt))
        first = self.condition(rule.first)
        if rule.last is None:
            return lambda rt, _open: _drop(action(rt)) if first(rt) else None
        last = self.condition(rule.last)

        def ranged(rt: Runtime, opened: set[int]) -> None:
            if index not in opened:
                if not first(rt):
                    return
                opened.add(index)
            if last(rt):
                opened.discard(index)
            action(rt)

        return ranged

    def statement(self, node: nodes.Statement) -> Run:
        made: Run = getattr(self, "_run_" + type(node).__name__.lower())(node)
        return made

    def _run_block(self, node: nodes.Block) -> Run:
        statements = [self.statement(statement) for statement in node.statements]
        if len(statements) == 1:
            return statements[0]

        def block(rt: Runtime) -> int:
            for statement in statements:
                left = statement(rt)
                if left:
                    return left
            return 0

        return block

    def _run_evaluate(self, node: nodes.Evaluate) -> Run:
        expression = self.expression(node.expression)

        def evaluate(rt: Runtime) -> int:
            rt.budget.spend(1)
            expression(rt)
            return 0

        return evaluate

    def _run_if(self, node: nodes.If) -> Run:
        condition, yes = self.condition(node.condition), self.statement(node.yes)
        no = None if node.no is None else self.statement(node.no)

        def choose(rt: Runtime) -> int:
            if condition(rt):
                return yes(rt)
            return 0 if no is None else no(rt)

        return choose

    def _run_while(self, node: nodes.While) -> Run:
        return self._loop(self.condition(node.condition), self.statement(node.body), None)

    def _run_for(self, node: nodes.For) -> Run:
        start = None if node.start is None else self.statement(node.start)
        condition = (lambda _rt: True) if node.condition is None else self.condition(node.condition)
        step = None if node.step is None else self.statement(node.step)
        loop = self._loop(condition, self.statement(node.body), step)

        def run(rt: Runtime) -> int:
            if start is not None:
                start(rt)
            return loop(rt)

        return run

    @staticmethod
    def _loop(condition: Callable[[Runtime], bool], body: Run, step: Run | None) -> Run:
        def loop(rt: Runtime) -> int:
            spend = rt.budget.spend
            while condition(rt):
                spend(2)
                left = body(rt)
                if left == BREAK:
                    break
                if left == RETURN:
                    return RETURN
                if step is not None:
                    step(rt)
            return 0

        return loop

    def _run_dowhile(self, node: nodes.DoWhile) -> Run:
        body, condition = self.statement(node.body), self.condition(node.condition)

        def loop(rt: Runtime) -> int:
            while True:
                rt.budget.spend(2)
                left = body(rt)
                if left == BREAK:
                    return 0
                if left == RETURN:
                    return RETURN
                if not condition(rt):
                    return 0

        return loop

    def _run_forin(self, node: nodes.ForIn) -> Run:
        store, array, body = self.store(node.variable), self.array(node.array), self.statement(node.body)

        def loop(rt: Runtime) -> int:
            keys = array(rt).keys()
            rt.budget.spend(len(keys) >> 2)
            for key in keys:
                rt.budget.spend(1)
                store(rt, str(key))
                left = body(rt)
                if left == BREAK:
                    return 0
                if left == RETURN:
                    return RETURN
            return 0

        return loop

    def _run_jump(self, node: nodes.Jump) -> Run:
        if node.kind in ("break", "continue"):
            signal = BREAK if node.kind == "break" else CONTINUE
            return lambda _rt: signal
        file = node.kind == "nextfile"

        def jump(_rt: Runtime) -> int:
            raise Next(file)

        return jump

    def _run_exit(self, node: nodes.Exit) -> Run:
        status = None if node.status is None else self.expression(node.status)

        def leave(rt: Runtime) -> int:
            raise Exit(None if status is None else int(number(status(rt))) & 0xFF)

        return leave

    def _run_return(self, node: nodes.Return) -> Run:
        value = None if node.value is None else self.expression(node.value)

        def leave(rt: Runtime) -> int:
            rt.result = None if value is None else value(rt)
            return RETURN

        return leave

    def _run_delete(self, node: nodes.Delete) -> Run:
        array = self.array(node.array)
        subscript = None if node.subscripts is None else self.subscript(node.subscripts)

        def delete(rt: Runtime) -> int:
            if subscript is None:
                array(rt).clear()
            else:
                array(rt).delete(subscript(rt))
            return 0

        return delete

    def _run_print(self, node: nodes.Print) -> Run:
        arguments = [self.expression(argument) for argument in node.arguments]
        target = None if node.target is None else self.expression(node.target)
        redirect = node.redirect
        if node.formatted:
            return self._printf(arguments, redirect, target)

        def show(rt: Runtime) -> int:
            rt.budget.spend(1)
            if arguments:
                text = rt.special(OFS).join([_printed(rt, argument(rt)) for argument in arguments])
            else:
                text = rt.record_text()
            out = rt.streams.stdout if target is None else rt.streams.output(redirect, rt.text(target(rt)))
            out.write(text + rt.special(ORS))
            return 0

        return show

    @staticmethod
    def _printf(
        arguments: list[Callable[[Runtime], Value]], redirect: str, target: Callable[[Runtime], Value] | None
    ) -> Run:
        form, *values = arguments

        def show(rt: Runtime) -> int:
            rt.budget.spend(1)
            text, problem = sprintf(rt.text(form(rt)), [value(rt) for value in values], rt.special(CONVFMT))
            out = rt.streams.stdout if target is None else rt.streams.output(redirect, rt.text(target(rt)))
            out.write(rt.checked(text))
            if problem is not None:
                raise problem
            return 0

        return show


def _printed(rt: Runtime, value: Value) -> str:
    """A number prints by OFMT, anything else as it is."""
    if type(value) is float:
        return string(value, string(rt.variables[OFMT]))
    return "" if value is None else str(value)


def _print_record(rt: Runtime) -> int:
    rt.streams.stdout.write(rt.record_text() + rt.special(ORS))
    return 0


def _drop(_left: int) -> None:
    return None
