"""What only resolving can find wrong in documents that passed every check: all of it at once, with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from scenario_dsl.errors import AuthorError
from scenario_dsl.template import TemplateError
from scenario_dsl.values import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """`document` is what people call it (`scenario disk-full`), `at` the route in it, `world` the one it shows in."""

    document: str
    at: Route
    world: str
    reason: str

    def __str__(self) -> str:
        place = ".".join(str(part) for part in self.at)
        return f"{self.document}{f' at {place}' if place else ''} (world {self.world}): {self.reason}"


class Unresolved(AuthorError):  # noqa: N818 (it reads as what it is)
    """Documents that cannot be made concrete."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[Unresolved], tuple[tuple[Problem, ...]]]:
        return (Unresolved, (self.problems,))


class Place:
    """Where resolving is at, and what it found so far: `place.at(route)` goes on from there with the same findings."""

    __slots__ = ("document", "found", "route", "world")

    def __init__(self, document: str, world: str, route: Route = (), found: list[Problem] | None = None) -> None:
        self.document = document
        self.world = world
        self.route = route
        self.found: list[Problem] = [] if found is None else found

    def at(self, route: Route) -> Place:
        """The place `route` of the same document. An empty route stays where it is."""
        return Place(self.document, self.world, route or self.route, self.found)

    def below(self, *keys: str | int) -> Place:
        return Place(self.document, self.world, (*self.route, *keys), self.found)

    def inside(self, document: str, route: Route) -> Place:
        """A place in another document that this one uses."""
        return Place(document, self.world, route, self.found)

    def report(self, reason: str) -> None:
        self.found.append(Problem(document=self.document, at=self.route, world=self.world, reason=reason))

    @contextmanager
    def reporting(self) -> Iterator[None]:
        """What is raised inside about a value or a template is a finding here."""
        try:
            yield
        except (ValueError, TemplateError) as error:
            self.report(str(error))
