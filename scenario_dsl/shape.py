"""Document -> diagnostics: what jsonschema found, at the place the author has to change."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

from scenario_dsl.diagnostics import Diagnostic, Label, closest, listing
from scenario_dsl.modules import MODULES
from scenario_dsl.nodes import Document, ListNode, MapNode, Node, ScalarNode, data_of
from scenario_dsl.parameters import TYPE_KEYWORD, Type, type_of
from scenario_dsl.parsing import kind_of
from scenario_dsl.probes import PROBES
from scenario_dsl.problems import shape as problems
from scenario_dsl.schema import KINDS, DocumentKind, inlined
from scenario_dsl.schema_parts import FAULT_NAME, PARAMETER_NAME, SCENARIO_NAME
from scenario_dsl.values import Route

MAX_ERRORS = 200
"""More of them help nobody, and a hostile document could have as many as it has values."""

_BOOLEANS = {"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}
_NAMES = {
    SCENARIO_NAME: "lower-case letters, digits and `-`",
    FAULT_NAME: "lower-case letters, digits and `_`",
    PARAMETER_NAME: "letters, digits and `_`, not beginning with a digit",
}


def document_kind(document: Document) -> DocumentKind | None:
    """What a document says it is, by the key that names it."""
    return next((kind for kind in KINDS if kind in document.root.entries), None)


def check_shape(document: Document) -> tuple[Diagnostic, ...]:
    """Everything in which a document departs from its schema."""
    kind = document_kind(document)
    if kind is None:
        first = next(iter(document.root.entries))
        span = document.root.entries[first].key
        return (problems.UnknownDocument(source=document.source, span=span, suggestion=closest(first, KINDS)),)
    return departures(document, inlined(kind))


def departures(document: Document, schema: Mapping[str, object]) -> tuple[Diagnostic, ...]:
    """Everything in which a document departs from a schema, made of the parts in `schema_parts`, references put in."""
    errors = islice(Draft202012Validator(schema).iter_errors(data_of(document.root)), MAX_ERRORS)
    listed = list(errors)
    typos = _typos(document, listed)
    found = [each for error in listed for each in _explain(document, schema, error, typos)]
    missing = {each.span for each in found if isinstance(each, problems.MissingKey)}
    # A key that is said to be missing is often one of several that would do: once is enough.
    return tuple(each for each in found if not isinstance(each, problems.NeedsOneOf) or each.span not in missing)


def _typos(document: Document, errors: Sequence[ValidationError]) -> Mapping[Route, frozenset[str]]:
    """For each mapping with unknown keys the keys that were probably meant: those are not missing as well."""
    typos: dict[Route, frozenset[str]] = {}
    for error in errors:
        node = document.node(tuple(error.absolute_path))
        if (
            error.validator == "additionalProperties"
            and isinstance(node, MapNode)
            and isinstance(error.schema, Mapping)
        ):
            known = error.schema.get("properties", {})
            meant = {closest(key.rpartition(".")[2], known) for key in node.entries if key not in known}
            typos[tuple(error.absolute_path)] = frozenset(name for name in meant if name is not None)
    return typos


def _explain(
    document: Document, root: Mapping[str, Any], error: ValidationError, typos: Mapping[Route, frozenset[str]]
) -> Iterator[Diagnostic]:
    route: Route = tuple(error.absolute_path)
    schema: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    rule, wanted = error.validator, cast(Any, error.validator_value)
    if rule == "additionalProperties":
        yield from _unknown_keys(document, route, schema)
    elif rule in ("required", "dependentRequired"):
        yield from _missing(document, root, route, error, schema, typos.get(route, frozenset()))
    elif rule == "anyOf":
        keys = [branch["required"][0] for branch in wanted]
        if typos.get(route, frozenset()) & set(keys):
            return
        listed = listing([f"`{key}`" for key in keys], 8)
        place = _title(root, route, error, schema)
        yield problems.NeedsOneOf(source=document.source, span=document.key(route), place=place, keys=listed)
    elif rule == "not":
        yield _exclusive(document, route, error)
    elif rule == "maxProperties":
        yield from _several(document, route, schema)
    elif rule in ("minProperties", "minItems", "minLength"):
        yield problems.Empty(source=document.source, span=document.key(route), place=_place(route, schema))
    elif rule == "uniqueItems":
        yield problems.Repeated(source=document.source, span=document.key(route), place=_place(route, schema))
    elif rule in ("type", "pattern", "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const"):
        yield _value(document, route, error, schema)
    else:
        reason = f"breaks the rule `{rule}`"
        yield problems.WrongValue(
            source=document.source, span=document.place(route), place=_place(route, schema), found="this", reason=reason
        )


def _place(route: Route, schema: Mapping[str, Any]) -> str:
    """How to call the thing at a route: its key, or what the schema calls it."""
    if route and isinstance(route[-1], str):
        return f"`{route[-1]}`"
    if len(route) > 1 and isinstance(route[-2], str):
        return f"an item of `{route[-2]}`"
    return str(schema.get("title", "this"))


def _title(root: Mapping[str, Any], route: Route, error: ValidationError, schema: Mapping[str, Any]) -> str:
    """How the schema calls a mapping; conditions inside `allOf` and `then` carry no title of their own."""
    if "title" in schema:
        return str(schema["title"])
    own = _schema_at(root, error)
    return str(own.get("title", _place(route, own)))


def _schema_at(root: Mapping[str, Any], error: ValidationError) -> Mapping[str, Any]:
    """The schema of the mapping that a rule inside `allOf`, `then` or `dependentSchemas` speaks of."""
    path = list(error.absolute_schema_path)
    while path and path[-1] not in ("allOf", "then", "dependentSchemas"):
        path.pop()
    schema: Any = root
    for step in path[:-1]:
        schema = schema[step]
    return schema if isinstance(schema, Mapping) else {}


def _unknown_keys(document: Document, route: Route, schema: Mapping[str, Any]) -> Iterator[Diagnostic]:
    node = document.node(route)
    known = list(schema.get("properties", {}))
    assert isinstance(node, MapNode)
    place = str(schema.get("title", _place(route, schema)))
    for key, entry in node.entries.items():
        if key in known:
            continue
        source, span = document.source, entry.key
        if schema.get(TYPE_KEYWORD) == "probe":
            yield problems.UnknownProbe(
                source=source, span=span, key=key, known=", ".join(PROBES), suggestion=closest(key, PROBES)
            )
        elif schema.get(TYPE_KEYWORD) == "task":
            suggestion = closest(key.rpartition(".")[2], known)
            yield problems.UnknownModule(
                source=source, span=span, key=key, known=", ".join(MODULES), suggestion=suggestion
            )
        else:
            accepted = f"{place} accepts: {listing(known, 14)}"
            labels = (Label(span=document.key(route), text=accepted),) if route and document.key(route) != span else ()
            advice = () if labels else (accepted,)
            yield problems.UnknownKey(
                source=source,
                span=span,
                key=key,
                place=place,
                labels=labels,
                suggestion=closest(key, [name for name in known if name not in node.entries]),
                advice=advice,
            )


def _missing(
    document: Document,
    root: Mapping[str, Any],
    route: Route,
    error: ValidationError,
    schema: Mapping[str, Any],
    meant: frozenset[str],
) -> Iterator[Diagnostic]:
    node = document.node(route)
    assert isinstance(node, MapNode)
    own = schema if "properties" in schema else _schema_at(root, error)
    wanted = cast(Any, error.validator_value)
    if error.validator == "required":
        needed = [key for key in wanted if key not in node.entries]
    else:
        needed = [
            key for given, keys in wanted.items() if given in node.entries for key in keys if key not in node.entries
        ]
    needed = [key for key in needed if key not in meant]
    if not needed:
        return
    known = own.get("properties", {})
    docs = [(key, known.get(key, {}).get("description", "")) for key in needed]
    yield problems.MissingKey(
        source=document.source,
        span=document.key(route),
        keys=listing([f"`{key}`" for key in needed]),
        place=str(own.get("title", _place(route, own))),
        advice=tuple(f"`{key}`: {doc}" for key, doc in docs if doc),
    )


def _exclusive(document: Document, route: Route, error: ValidationError) -> Diagnostic:
    path = list(error.absolute_schema_path)
    other = str(path[path.index("dependentSchemas") + 1]) if "dependentSchemas" in path else "another key"
    pair = sorted((str(route[-1]), other), key=lambda key: document.key((*route[:-1], key)).start)
    # Each of the two excludes the other: report the one that stands later, once.
    key = pair[1]
    return problems.KeysExclude(source=document.source, span=document.key((*route[:-1], key)), key=key, other=pair[0])


def _several(document: Document, route: Route, schema: Mapping[str, Any]) -> Iterator[Diagnostic]:
    node = document.node(route)
    assert isinstance(node, MapNode)
    spans = [entry.key for entry in node.entries.values()]
    what = str(schema.get("title", "a key")).removeprefix("a ")
    yield problems.NotExactlyOne(
        source=document.source,
        span=spans[1],
        labels=(Label(span=spans[0], text="the first"),),
        place=_place(route, schema),
        what=what,
        count=len(spans),
    )


def _value(document: Document, route: Route, error: ValidationError, schema: Mapping[str, Any]) -> Diagnostic:
    node = document.node(route)
    source, span, place = document.source, document.place(route), _place(route, schema)
    title = str(schema.get("title", ""))
    if error.validator == "enum" or "examples" in schema:
        return _choice(document, route, schema)
    if error.validator == "type" or (error.validator == "pattern" and _wants_no_text(schema)):
        kinds = _listed(error.validator_value)
        # The title of a mapping names what it is for, not what it is.
        expected = " or ".join(kinds) if error.validator_value == "object" or not title else title
        advice = _advice(node, document.raw(route).strip(), schema) or _structure(node, error, schema)
        return problems.WrongType(
            source=source,
            span=span,
            place=place,
            expected=expected,
            found=kind_of(node),
            advice=(advice,) if advice else (),
        )
    written = _written(node)
    if schema.get("pattern") in _NAMES:
        reason = f"takes {_NAMES[str(schema['pattern'])]}"
        return problems.WrongValue(source=source, span=span, place=place, found=written, reason=reason)
    if not title and error.validator == "pattern":
        key = str(error.instance)
        return problems.Misnamed(
            source=source,
            span=document.key((*route, key)),
            key=key,
            reason=f"takes {_NAMES[str(error.validator_value)]}",
        )
    reason = _reason(error, title)
    own = type_of(schema)
    form = (f"{title} looks like {own.form}",) if own is not None and error.validator == "pattern" else ()
    return problems.WrongValue(source=source, span=span, place=place, found=written, reason=reason, advice=form)


def _reason(error: ValidationError, title: str) -> str:
    limit = error.validator_value
    return {
        "pattern": f"not {title}",
        "minimum": f"must be at least {limit}",
        "maximum": f"must be at most {limit}",
        "exclusiveMinimum": f"must be above {limit}",
        "exclusiveMaximum": f"must be below {limit}",
        "const": f"must be {limit}",
    }[str(error.validator)]


def _choice(document: Document, route: Route, schema: Mapping[str, Any]) -> Diagnostic:
    node = document.node(route)
    values = schema.get("enum") or schema.get("examples") or []
    choices = [str(value) for value in values]
    written = node.value if isinstance(node, ScalarNode) and isinstance(node.value, str) else None
    return problems.NotChoice(
        source=document.source,
        span=document.place(route),
        place=_place(route, schema),
        found=_written(node),
        choices=listing([f"`{value}`" for value in choices], 20),
        suggestion=closest(written, choices) if written else None,
    )


def _wants_no_text(schema: Mapping[str, Any]) -> bool:
    """Is text allowed only for the sake of templates?"""
    kinds = schema.get("type", [])
    return isinstance(kinds, list) and "string" in kinds and str(schema.get("pattern", "")).startswith(r"\{\{")


def _listed(kinds: object) -> list[str]:
    words = {"object": "a mapping", "array": "a list", "string": "text", "boolean": "true or false"}
    names = kinds if isinstance(kinds, list) else [kinds]
    return [words.get(str(name), f"a {name}") for name in names]


def _written(node: Node) -> str:
    if not isinstance(node, ScalarNode):
        return kind_of(node)
    text = (
        "nothing"
        if node.value is None
        else str(node.value).lower()
        if isinstance(node.value, bool)
        else str(node.value)
    )
    return f"`{text if len(text) <= 60 else text[:57] + '…'}`" if node.value is not None else text


def _structure(node: Node, error: ValidationError, schema: Mapping[str, Any]) -> str:
    """How a list or mapping is written, for who wrote something else."""
    if error.validator_value == "array":
        return "write a list: each entry on a line of its own that begins with `- `"
    if error.validator_value != "object":
        return ""
    known = list(schema.get("properties", {}))
    if known and len(known) <= 12:
        return f"write a mapping with these keys: {', '.join(known)}"
    return "write `name: …` for each entry, without `- `" if isinstance(node, ListNode) else ""


def _is_text(own: Type | None) -> bool:
    return own is not None and own.schema["type"] == "string"


def _advice(node: Node, raw: str, schema: Mapping[str, Any]) -> str:
    """What to write instead, where it can be told. `raw`: the value as it is written."""
    own = type_of(schema)
    if not isinstance(node, ScalarNode):
        if node.flow and _is_text(own):
            return f"YAML reads `{raw[0]}` as the beginning of {kind_of(node)}; quote the whole text, or write `|-`"
        return ""
    if isinstance(node.value, str):
        if own is not None and own.name == "boolean":
            meant = _BOOLEANS.get(node.value.lower())
            return f"YAML 1.2 knows only `true` and `false`: write `{meant}`" if meant else ""
        if schema.get(TYPE_KEYWORD) == "fault":
            return f"write `{node.value}: {{}}` if it takes no arguments"
        if "cmd" in schema.get("properties", {}):
            return "write `{cmd: …}`: arguments are always named"
        return "remove the quotes" if node.style != "plain" and re.fullmatch(r"[-+0-9.]+", node.value) else ""
    if own is not None and own.name == "mode" and re.fullmatch(r"(0o?)?[0-7]{3,4}", raw):
        return f'put it into quotes: `"{raw.replace("o", "").rjust(4, "0")}"`'
    if raw and _is_text(own):
        return f'put it into quotes if it is meant as text: `"{raw}"`'
    return ""
