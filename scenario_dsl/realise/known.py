"""What the documents of a pack may refer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scenario_dsl.model import Fault, Library, System
from scenario_dsl.nodes import Document, stand_in


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Faults and systems by name, and the documents they were read from by kind and name.

    `unsound`: names of documents that exist but did not pass, about which nothing more is said. `complete` is False for
    a document checked alone, whose references cannot be judged."""

    faults: Mapping[str, Fault] = field(default_factory=dict)
    systems: Mapping[str, System] = field(default_factory=dict)
    documents: Mapping[tuple[str, str], Document] = field(default_factory=dict)
    unsound: frozenset[str] = frozenset()
    complete: bool = True

    def lacks_fault(self, name: str) -> bool:
        return self.complete and name not in self.faults and name not in self.unsound

    def lacks_system(self, name: str) -> bool:
        return self.complete and name not in self.systems and name not in self.unsound

    def sound_fault(self, name: str) -> Fault | None:
        return None if name in self.unsound else self.faults.get(name)

    def document(self, kind: str, name: str) -> Document:
        """Where a thing is written; what was made in code has a document without text."""
        return self.documents.get((kind, name)) or stand_in(f"{kind} {name}")


def known_of(library: Library) -> Known:
    """What the documents of a whole, checked library may refer to."""
    return Known(faults=library.faults, systems=library.systems, documents=library.documents)
