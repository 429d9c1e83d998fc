"""Values to canonical JSON (RFC 8785) and back, outside the model. `load(type(v), dump(v)) == v` for every stage value.

Loading is strict: no unknown key, no conversion between types (but an integer may stand for a float, since canonical
JSON writes 5.0 as 5).
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeVar, cast

import rfc8785
from pydantic import ConfigDict, TypeAdapter, ValidationError

from compiler.refusals import Refusal
from scenario_dsl.values import Value

T = TypeVar("T")
_LARGEST = 2**53 - 1

# The standard encoder is ten times as fast as rfc8785's and writes the same, but for small floats (1e-07), the order of
# keys beyond the basic plane, and lone surrogates; a text that may hold one of those is written by rfc8785.
_ENCODER = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)
_HIGH = re.compile("[\ud800-\U0010ffff]")
_SMALL = re.compile("[0-9]e-[0-9]")


@dataclass(eq=False)
class NotCanonical(Refusal):
    """A value that JSON cannot carry without loss."""

    template: ClassVar[str] = "cannot be written as JSON: {reason}"
    reason: str


@dataclass(eq=False)
class Malformed(Refusal):
    """Bytes that are not the JSON form of the wanted type. `where` is the path of the first thing wrong in `file`."""

    template: ClassVar[str] = "{file}: is not a {wanted}: {reason} (at {where})"
    wanted: str
    where: str
    reason: str
    file: str = "the document"

    def of(self, file: str) -> Malformed:
        """The same, saying which file it is about."""
        return Malformed(self.wanted, self.where, self.reason, file)


def dump(value: object) -> bytes:
    """The canonical JSON of a dataclass, or of plain values, tuples and mappings of them.

    Raises NotCanonical for numbers that JSON readers do not keep (NaN, infinities, beyond 2^53) and lone surrogates.
    """
    plain_value = _plain(value)
    text = _ENCODER.encode(plain_value)
    if (text.isascii() or not _HIGH.search(text)) and not ("e-" in text and _SMALL.search(text)):
        return text.encode()
    try:
        return rfc8785.dumps(plain_value)
    except rfc8785.CanonicalizationError as error:
        raise NotCanonical(str(error)) from error


def load(wanted: type[T], data: bytes) -> T:
    """Read one value of `wanted` (a dataclass) from JSON. Raises Malformed."""
    try:
        (value,) = _adapter(cast(Hashable, wanted)).validate_json(b"[" + data + b"]")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "its beginning"
        raise Malformed(wanted.__name__, where, first["msg"]) from error
    return cast(T, value)


@lru_cache(maxsize=64)
def _adapter(wanted: Hashable) -> TypeAdapter[Any]:
    # A tuple of one: pydantic passes a configuration on to plain dataclasses only from a type that surrounds them.
    surrounding: Any = tuple[wanted]  # type: ignore[valid-type]
    return TypeAdapter(surrounding, config=ConfigDict(extra="forbid", strict=True))


def _plain(value: object) -> Any:
    """`value` in dicts, lists and scalars, whole floats as integers (which is how canonical JSON writes them).

    What occurs most comes first: a run writes one record for every episode, and an episode may take a millisecond.
    """
    given: Any = value
    kind = type(given)
    if kind is str or given is None or kind is bool:
        return given
    if kind is tuple or kind is list:
        return [_plain(item) for item in given]
    if kind is float or kind is int:
        # Larger whole numbers are integers that no JSON reader may take for exact, so they would not come back.
        if not -_LARGEST <= given <= _LARGEST:
            raise NotCanonical(f"{given} is not a number within 2^53")
        return int(given) if kind is int or given.is_integer() else given
    names = _field_names(cast(Hashable, kind))
    if names is not None:
        return {name: _plain(getattr(given, name)) for name in names}
    if isinstance(given, Mapping):
        return {key: _plain(item) for key, item in given.items()}
    if isinstance(given, str):
        return given
    # What is left are subclasses of the types above.
    if isinstance(given, tuple | list):
        return _plain(list(given))
    if isinstance(given, int | float):
        return _plain(int(given) if isinstance(given, int) else float(given))
    raise TypeError(f"not a value of a stage: {value!r}")


@lru_cache(maxsize=256)
def _field_names(kind: Hashable) -> tuple[str, ...] | None:
    """The names of a dataclass's fields, None for other types."""
    return (
        tuple(field.name for field in dataclasses.fields(cast(Any, kind))) if dataclasses.is_dataclass(kind) else None
    )


def plain(value: object) -> Value:
    """`value` as plain values, the way `dump` writes it: to put one document inside another."""
    return load_value(dump(value))


def load_value(data: bytes) -> Value:
    """Read JSON of any shape. Raises Malformed."""
    try:
        (value,) = _ANY.validate_json(b"[" + data + b"]")
    except ValidationError as error:
        raise Malformed("JSON document", "its beginning", error.errors(include_url=False)[0]["msg"]) from error
    return value


_ANY: TypeAdapter[tuple[Value]] = TypeAdapter(tuple[Value])
