"""The language reference as Markdown, made from the schema and the tables: `docs/language.md` is this text.

A test holds that file current.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scenario_dsl.diagnostics import Diagnostic
from scenario_dsl.filters import FILTERS
from scenario_dsl.markdown import arguments, flow, table
from scenario_dsl.modules import MODULES
from scenario_dsl.parameters import TYPES
from scenario_dsl.probes import PROBES
from scenario_dsl.problems import meaning, packs, reading, shape, templates
from scenario_dsl.schema import KINDS, POLICIES, DocumentKind, schema

_PLACES: Mapping[DocumentKind, str] = {
    "scenario": "`scenarios/<name>.yml`: one incident, with everything that can be done about it.",
    "fault": "`faults/<name>.yml`: one named break of a system, written once as Ansible tasks.",
    "system": (
        "`systems/<name>/system.yml`: one healthy machine. Its `files/` folder is laid over the machine's root; its "
        "`installed.txt` lists what else an installation holds, which the simulated server shows and nobody reads: a "
        "line is `SIZE /PATH`, `/PATH -> TARGET` or `/PATH/`."
    ),
    "pack": "`pack.yml`: what a folder of documents has in common.",
    "intervention": "A file of its own, YAML or JSON: what an agent hands in. Gold and bad habits have the same keys.",
}


def reference() -> str:
    """The whole reference, ending in a newline."""
    parts = [_INTRODUCTION, *map(_document, KINDS), _types(), _probes(), _modules(), _templates(), _diagnostics()]
    return "\n".join(parts)


_INTRODUCTION = """# The language

<!-- Made from the schema and the tables of scenario_dsl; change those, not this file. -->

A pack is a folder of YAML documents: `pack.yml`, `scenarios/*.yml`, `faults/*.yml` and `systems/<name>/system.yml`.
Scalars are those of YAML 1.2: `0644` is the number 644, `yes` is text, and a mode is written `"0644"`. A document is
one file of UTF-8 text, at most 1 MiB; tags, merge keys and unknown keys are errors.

`breakfix check` names every mistake with its place. For completion in an editor, begin a file with
`# yaml-language-server: $schema=<folder of scenario_dsl>/schemas/scenario.schema.json`.
"""


def _document(kind: DocumentKind) -> str:
    whole = schema(kind)
    lines = [f"## {kind.capitalize()}", "", _PLACES[kind], ""]
    lines += _keys(kind, whole, whole)
    if kind == "pack":
        lines += ["Policies:", "", *(f"- `{name}`: {words}" for name, words in POLICIES.items()), ""]
    return "\n".join(lines)


def _keys(title: str, node: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[str]:
    """A table of the keys of a mapping, then one for each mapping below it."""
    required = node.get("required", ())
    yield from table(
        ("key", "what", ""),
        [
            (f"`{key}`", _described(value, whole), "required" if key in required else "")
            for key, value in node["properties"].items()
        ],
    )
    for key, value in node["properties"].items():
        path = f"{title}.{key}" if title not in KINDS else key
        yield from _below(path, _placed(value, whole), whole)


def _below(path: str, node: Mapping[str, Any], whole: Mapping[str, Any]) -> Iterator[str]:
    """The tables of what a key holds: a mapping, a list of mappings, or a mapping with free names."""
    items = _placed(node.get("items", {}), whole)
    free = _placed(node.get("additionalProperties") or {}, whole)
    for name, inner in ((path, node), (f"{path}[]", items), (f"{path}.<name>", free)):
        if _is_table(inner):
            yield from (f"### `{name}`", "")
            yield from _keys(name, inner, whole)
        elif inner is not node and inner.get("title") in ("a twin", "a list"):
            yield from _below(name, inner, whole)


def _is_table(node: Mapping[str, Any]) -> bool:
    # Probes and tasks have sections of their own.
    return "properties" in node and node.get("title") not in ("a probe", "a task")


def _placed(node: Any, whole: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(node, Mapping):
        return {}
    reference = node.get("$ref")
    if isinstance(reference, str):
        placed: Mapping[str, Any] = whole["$defs"][reference.removeprefix("#/$defs/")]
        return placed
    return node


def _described(node: Any, whole: Mapping[str, Any]) -> str:
    placed = _placed(node, whole)
    text = str(placed.get("description", ""))
    choices = placed.get("enum")
    if choices and len(choices) <= 8:
        text += f" ({', '.join(f'`{choice}`' for choice in choices)})"
    return text


def _types() -> str:
    rows = [(f"`{each.name}`", each.article, each.form) for each in TYPES.values()]
    lines = [
        "## Types of arguments",
        "",
        "One mechanism for the arguments of faults, probes and modules. `list of <type>` is a list of them. A template",
        "may stand wherever a value is expected; it is checked with the values of every world.",
        "",
        *table(("type", "is", "looks like"), rows),
    ]
    return "\n".join(lines)


def _probes() -> str:
    lines = ["## Probes", "", "Every expectation that is given must hold. In a fleet, `node` names the machine.", ""]
    for probe in PROBES.values():
        lines += [f"### `{probe.name}`", "", probe.doc, "", *arguments(probe.parameters, probe.exactly_one)]
        lines += ["```yaml", f"{probe.name}: {flow(probe.example)}", "```", ""]
    return "\n".join(lines)


def _modules() -> str:
    lines = ["## Ansible modules", "", "What the tasks of a fault may use. Arguments are always named.", ""]
    for module in MODULES.values():
        lines += [f"### Module `{module.name}`", "", module.doc, "", *arguments(module.parameters, module.exactly_one)]
    return "\n".join(lines)


def _templates() -> str:
    return f"""## Templates

`{{{{ expression }}}}` inside text is put in when a pack is compiled; nothing else of Jinja2 is. A text that is exactly
one expression keeps its value's type. An expression is made of names, constants, operators and these filters:
{", ".join(f"`{name}`" for name in FILTERS)}. Nothing can be called, and everything that could grow is bounded.

A fault's tasks and probes see its arguments, tasks also `item` in a `loop` and what an earlier task registered (these
only while running, so no expression may use both). A scenario sees its `parameters`, with the changes of a twin or a
control. Interventions see the primary's parameters, and what an earlier step discovered, as `{{{{ name }}}}` alone.
"""


def _diagnostics() -> str:
    classes = [
        each
        for module in (reading, shape, templates, meaning, packs)
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, Diagnostic) and each is not Diagnostic
    ]
    rows = [(f"`{each.code}`", each.severity, each.title) for each in classes]
    return "\n".join(["## Diagnostics", "", *table(("code", "", "what it says"), sorted(rows))])
