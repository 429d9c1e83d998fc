"""One file -> one checked model value: reading, parsing, shape, types, building, each stage stopping at its errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from scenario_dsl.build import build_fault, build_intervention, build_pack, build_scenario, build_system
from scenario_dsl.diagnostics import Diagnostic, errors_in
from scenario_dsl.model import Fault, Intervention, Pack, Scenario, System
from scenario_dsl.nodes import Document
from scenario_dsl.parsing import parse
from scenario_dsl.problems import reading as problems
from scenario_dsl.schema import DocumentKind
from scenario_dsl.shape import check_shape, document_kind
from scenario_dsl.source import SourceText, Span, Unreadable, read
from scenario_dsl.syntax import cut_texts
from scenario_dsl.typed import typed_value
from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One file as far as it could be taken. `value` is None where a stage found errors."""

    path: Path
    source: SourceText
    found: tuple[Diagnostic, ...]
    kind: DocumentKind | None = None
    document: Document | None = None
    data: Mapping[str, Value] = field(default_factory=dict)
    value: Scenario | Fault | System | Pack | Intervention | None = None

    @property
    def name(self) -> str:
        """What the document calls itself, or what its file is called."""
        if self.value is not None:
            return self.value.name
        return self.path.parent.name if self.path.stem == "system" else self.path.stem


_BUILDERS: Mapping[DocumentKind, Callable[[Mapping[str, Value]], Scenario | Fault | System | Pack | Intervention]] = {
    "scenario": build_scenario,
    "fault": build_fault,
    "system": build_system,
    "pack": build_pack,
    "intervention": build_intervention,
}


def load_document(path: Path, shown: str) -> Loaded:
    """`shown` is how diagnostics call the file."""
    try:
        source = read(path, shown)
    except Unreadable as error:
        source = SourceText(shown, error.text)
        return Loaded(path=path, source=source, found=(unreadable(source, error),))
    return load_text(path, source)


def load_text(path: Path, source: SourceText) -> Loaded:
    document, found = parse(source)
    if document is None:
        return Loaded(path=path, source=source, found=found)
    kind = document_kind(document)
    found = (*found, *cut_texts(document))
    if not errors_in(found):
        found = (*found, *check_shape(document))
    if errors_in(found) or kind is None:
        return Loaded(path=path, source=source, found=found, kind=kind, document=document)
    data, wrong = typed_value(document, kind)
    found = (*found, *wrong)
    if errors_in(found):
        return Loaded(path=path, source=source, found=found, kind=kind, document=document)
    value = _BUILDERS[kind](data)
    return Loaded(path=path, source=source, found=found, kind=kind, document=document, data=data, value=value)


def unreadable(source: SourceText, error: Unreadable) -> Diagnostic:
    """The diagnostic for a file that is no text."""
    one = Span(error.at, min(error.at + 1, len(source.text)))
    whole = Span(0, 0)
    match error.kind:
        case "missing":
            return problems.FileMissing(source=source, span=whole)
        case "directory":
            return problems.FileIsDirectory(source=source, span=whole)
        case "special":
            return problems.FileSpecial(source=source, span=whole)
        case "denied":
            return problems.FileDenied(source=source, span=whole)
        case "loop":
            return problems.FileLoop(source=source, span=whole)
        case "huge":
            return problems.FileHuge(source=source, span=whole, detail=error.detail)
        case "empty":
            return problems.FileEmpty(source=source, span=whole)
        case "utf16":
            return problems.TextUtf16(source=source, span=whole)
        case "bom":
            return problems.TextByteOrderMark(source=source, span=Span(0, min(1, len(source.text))))
        case "encoding":
            return problems.TextEncoding(source=source, span=one, detail=error.detail)
        case "nul":
            return problems.TextNul(source=source, span=one)
        case "control":
            return problems.TextControl(source=source, span=one, detail=error.detail)
        case _:
            return problems.FileFailed(source=source, span=whole, detail=error.detail)


def rewarded(loaded: Loaded, pack: Loaded) -> Loaded:
    """A scenario that says nothing of its rewards is read as if it said what its pack says."""
    reward = pack.data.get("reward")
    if not isinstance(loaded.value, Scenario) or reward is None or "reward" in loaded.data:
        return loaded
    return replace(loaded, value=build_scenario({**loaded.data, "reward": reward}))
