"""Packs and systems: what is wrong with them as a whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from scenario_dsl.diagnostics import Diagnostic, Severity


@dataclass(frozen=True, slots=True, kw_only=True)
class RootNotMounted(Diagnostic):
    code: ClassVar[str] = "system-without-root"
    title: ClassVar[str] = "no file system is mounted at `/`"
    caret: ClassVar[str] = "needs an entry with `path: /`"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedTwice(Diagnostic):
    code: ClassVar[str] = "named-twice"
    title: ClassVar[str] = "{what} `{name}` is described twice"
    caret: ClassVar[str] = "given again"
    what: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkWithoutTarget(Diagnostic):
    code: ClassVar[str] = "link-without-target"
    title: ClassVar[str] = "a link needs a `target`"
    caret: ClassVar[str] = "points nowhere"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotATime(Diagnostic):
    code: ClassVar[str] = "not-a-time"
    title: ClassVar[str] = "{found} is no time"
    caret: ClassVar[str] = "expected something like `2026-03-14T09:00:00Z`"
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeFile(Diagnostic):
    code: ClassVar[str] = "system-file"
    title: ClassVar[str] = "the file `{path}` of this system cannot be taken: {reason}"
    caret: ClassVar[str] = "its folder holds it"
    path: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileMisnamed(Diagnostic):
    code: ClassVar[str] = "name-not-of-file"
    title: ClassVar[str] = "the {kind} is named `{name}`, and its {holder} `{found}`"
    caret: ClassVar[str] = "expected `{found}`"
    help: ClassVar[str] = "rename one of them"
    kind: str
    name: str
    holder: str
    found: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WrongFolder(Diagnostic):
    code: ClassVar[str] = "document-in-wrong-folder"
    title: ClassVar[str] = "a {kind} stands where a {expected} belongs"
    caret: ClassVar[str] = "a {kind}"
    kind: str
    expected: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTaken(Diagnostic):
    code: ClassVar[str] = "name-taken"
    title: ClassVar[str] = "a {kind} named `{name}` exists already"
    caret: ClassVar[str] = "also in {other}"
    kind: str
    name: str
    other: str


@dataclass(frozen=True, slots=True, kw_only=True)
class UnknownPack(Diagnostic):
    code: ClassVar[str] = "unknown-pack"
    title: ClassVar[str] = "there is no pack `{name}`"
    caret: ClassVar[str] = "neither beside this pack nor on the search path"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackCycle(Diagnostic):
    code: ClassVar[str] = "pack-cycle"
    title: ClassVar[str] = "the pack `{name}` uses this pack, directly or through others"
    caret: ClassVar[str] = "leads back here"
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFewScenarios(Diagnostic):
    code: ClassVar[str] = "policy-too-few-scenarios"
    title: ClassVar[str] = "`graded-submission` asks for at least 3 scenarios, and this pack has {count}"
    caret: ClassVar[str] = "the policy"
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LonePoints(Diagnostic):
    code: ClassVar[str] = "policy-lone-objective"
    title: ClassVar[str] = "`graded-submission` wants a lone objective to have 0.99, and this one has {points}"
    caret: ClassVar[str] = "write 0.99"
    points: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoPack(Diagnostic):
    code: ClassVar[str] = "folder-without-pack"
    title: ClassVar[str] = "this folder is no pack and holds no documents"
    help: ClassVar[str] = "a pack is a folder with a `pack.yml`"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmptyPack(Diagnostic):
    code: ClassVar[str] = "pack-empty"
    severity: ClassVar[Severity] = "warning"
    title: ClassVar[str] = "this pack has no scenarios, faults or systems"
    caret: ClassVar[str] = "an empty pack"
