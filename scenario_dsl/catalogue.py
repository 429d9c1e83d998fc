"""The catalogue of faults as Markdown, made from the content: `docs/faults.md` is this text for the shipped packs.

A test holds that file current.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence

from scenario_dsl.markdown import arguments, flow, table
from scenario_dsl.model import Fault, Library, System
from scenario_dsl.values import strings

_WIDTH = 120
_PATH = re.compile(r"/[A-Za-z0-9_.+/-]*[A-Za-z0-9_+-]")


def catalogue(libraries: Sequence[Library]) -> str:
    """The faults of these packs, each once and with the pack that it comes from; ends in a newline.

    A pack is to stand after those that it uses.
    """
    systems = {name: system for library in libraries for name, system in library.systems.items()}
    own: dict[str, tuple[Fault, ...]] = {}
    known: set[str] = set()
    for library in libraries:
        own[library.pack.name] = tuple(fault for name, fault in library.faults.items() if name not in known)
        known |= library.faults.keys()
    lines = [_INTRODUCTION]
    for pack, faults in own.items():
        if faults:
            lines += _pack(pack, faults, systems)
    return "\n".join(lines)


_INTRODUCTION = """# The faults

<!-- Made from the faults of the shipped packs; change those, not this file. -->

A fault breaks one thing, by Ansible tasks, and can take it back. A scenario names it with arguments, under `faults` or
where a cascade injects it. Text in `{{ }}` stands for the argument of that name. A fault that says so is a decoy: it
breaks nothing, and controls use it under `instead_of_faults`.

Every fault is tested with the example that stands here: it takes hold, it is witnessed, and reverting it restores the
machine. [Writing a scenario](authoring.md) says how to use one, and how to write your own. The types are explained in
[the language](language.md#types-of-arguments).
"""


def _pack(name: str, faults: Sequence[Fault], systems: Mapping[str, System]) -> Iterator[str]:
    yield from (f"## Faults of `{name}`", "")
    rows = [(f"[`{fault.name}`](#{fault.name})", fault.title, "decoy" if fault.decoy else "") for fault in faults]
    yield from table(("fault", "what is wrong", ""), rows)
    for fault in faults:
        yield from _fault(fault, systems)


def _fault(fault: Fault, systems: Mapping[str, System]) -> Iterator[str]:
    words = f"**{fault.title}.** {'A decoy. ' if fault.decoy else ''}{fault.doc}"
    yield from (f"### {fault.name}", "", *textwrap.wrap(words, _WIDTH, break_on_hyphens=False), "")
    yield from arguments(fault.arguments)
    key = "instead_of_faults" if fault.decoy else "faults"
    yield from ("```yaml", f"{key}:", f"  - {fault.name}: {flow(fault.example)}", "```", "")
    yield from ("Witnessed by:", "")
    yield from (f"- `{probe.type}: {flow(probe.arguments)}`" for probe in fault.witness)
    yield from ("", _needs(fault, systems), "")


def _needs(fault: Fault, systems: Mapping[str, System]) -> str:
    """What a system must have beside what the arguments name: the files of systems that the tasks call by name."""
    tasks = (*fault.inject, *fault.revert)
    texts = [text for task in tasks for _, text in strings(task.arguments)]
    named = dict.fromkeys(path for text in texts for path in _PATH.findall(text))
    has = {name: _paths(system) for name, system in systems.items()}
    needed = [path for path in named if any(path in paths for paths in has.values())]
    if not needed:
        return "Systems: any that has what the arguments name."
    fitting = [name for name, paths in has.items() if paths.issuperset(needed)]
    return f"Systems: those that have {_code(needed)} ({_code(fitting) or 'none that ships'})."


def _code(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _paths(system: System) -> frozenset[str]:
    programs = system.settings.get("programs")
    return frozenset(file.path for file in system.files if file.type == "file") | frozenset(
        programs if isinstance(programs, Mapping) else ()
    )
