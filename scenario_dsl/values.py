"""JSON-like values as documents hold them, and the two names everything else uses for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias, Union

from typing_extensions import TypeAliasType

Scalar: TypeAlias = bool | int | float | str | None
# Lists become tuples on the way in; mappings stay `dict` but are typed read-only, and nobody writes to them.
# At run time the alias is a named one, because pydantic can follow its recursion and would never end on a plain one.
if TYPE_CHECKING:
    Value: TypeAlias = Scalar | tuple["Value", ...] | Mapping[str, "Value"]
else:
    Value = TypeAliasType("Value", Union[Scalar, tuple["Value", ...], Mapping[str, "Value"]])  # noqa: UP007
LARGEST_NUMBER = 2**53 - 1
"""The largest number of a document, either side of zero: canonical JSON, in which bundles are written, keeps whole
numbers exact up to here, and writes whole floats as such."""
Route: TypeAlias = tuple[str | int, ...]
"""Where a thing stands in its document: the keys and indexes from the root. Turned into line and column late."""


def freeze(value: object) -> Value:
    """Copy plain data (as JSON or YAML gives it) into a `Value`; raises TypeError on anything else."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return tuple(freeze(item) for item in value)
    if isinstance(value, Mapping):
        return {str(key): freeze(item) for key, item in value.items()}
    raise TypeError(f"not a plain value: {value!r}")


def thaw(value: Value) -> object:
    """The opposite of `freeze`: lists and dicts that json, jinja2 and jsonschema take."""
    if isinstance(value, tuple):
        return [thaw(item) for item in value]
    if isinstance(value, Mapping):
        return {key: thaw(item) for key, item in value.items()}
    return value


def strings(value: Value, route: Route = ()) -> Iterator[tuple[Route, str]]:
    """Every string inside `value`, with its route from there."""
    if isinstance(value, str):
        yield route, value
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from strings(item, (*route, index))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from strings(item, (*route, key))
