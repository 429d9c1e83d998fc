"""What the documents of a pack may refer to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scenario_dsl.model import Fault, System


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """Faults and systems by name. `unsound`: names of documents that exist but did not pass, about which nothing more
    is said. `complete` is False for a document checked alone, whose references cannot be judged."""

    faults: Mapping[str, Fault] = field(default_factory=dict)
    systems: Mapping[str, System] = field(default_factory=dict)
    unsound: frozenset[str] = frozenset()
    complete: bool = True

    def lacks_fault(self, name: str) -> bool:
        return self.complete and name not in self.faults and name not in self.unsound

    def lacks_system(self, name: str) -> bool:
        return self.complete and name not in self.systems and name not in self.unsound
