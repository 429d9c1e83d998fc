"""What the agent reads must not hold what it should find out: gold's commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scenario_dsl.diagnostics import Diagnostic
from scenario_dsl.model import Answer, Scenario
from scenario_dsl.nodes import Document
from scenario_dsl.problems.meaning import SolutionLeaked
from scenario_dsl.template import TemplateError, expressions, render
from scenario_dsl.values import Route

_BETWEEN = re.compile(r"\|\||&&|[|;\n]")
_WORD = r"[\w@.:/*+-]+"
_COMMAND = re.compile(r"[a-z_./][\w./+-]*\s+\S")


def check_leaks(document: Document, scenario: Scenario) -> Iterator[Diagnostic]:
    patterns = list(_patterns(scenario))
    for route, place, text in _read_by_agent(scenario):
        folded = " ".join(_put_in(text, scenario).split())
        for pattern in patterns:
            leaked = pattern.search(folded)
            if leaked:
                written = leaked.group()
                span = document.within(route, written)
                yield SolutionLeaked(source=document.source, span=span, place=place, command=written)
                break


def _read_by_agent(scenario: Scenario) -> Iterator[tuple[Route, str, str]]:
    yield ("complaint",), "the complaint", scenario.complaint
    for index, hint in enumerate(scenario.hints):
        yield ("hints", index), "a hint", hint
    for control in scenario.controls:
        if control.complaint is not None:
            yield (*control.at, "complaint"), "the complaint", control.complaint
    for objective in scenario.objectives:
        if isinstance(objective.check, Answer):
            yield (*objective.at, "answer", "question"), "the question", objective.check.question


def _patterns(scenario: Scenario) -> Iterator[re.Pattern[str]]:
    """One pattern per command of gold; whatever is put in may be any word."""
    for step in scenario.gold.steps:
        for command in _BETWEEN.split(step.run or ""):
            words = " ".join(command.split())
            # A single word (`reboot`, `df`) is also English, or too common to be a secret.
            if _COMMAND.match(words) and len(words) >= 5:
                yield re.compile(rf"(?<![\w/.-]){_any_word(words)}(?![\w/])")


def _any_word(words: str) -> str:
    parts: list[str] = []
    at = 0
    for found in expressions(words):
        parts += [re.escape(words[at : found.start]), _WORD]
        at = found.start + len(found.written)
    return "".join([*parts, re.escape(words[at:])])


def _put_in(text: str, scenario: Scenario) -> str:
    try:
        return str(render(text, scenario.parameters))
    except TemplateError:
        # Reported where the text is checked.
        return text
