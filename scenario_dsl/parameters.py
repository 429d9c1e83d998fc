"""Types of arguments: one mechanism for faults (declared in YAML), probe types and Ansible modules (in Python).

A type says three things about itself: which JSON Schema describes it to an editor, which values it takes, and what a
value means (`normal`: sizes in bytes, durations in seconds). A template may stand wherever a scalar is expected; it is
checked once it is rendered.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import urlsplit

import re2

from scenario_dsl.model import Parameter
from scenario_dsl.values import LARGEST_NUMBER, Value

TEMPLATE = r"\{\{[\s\S]*\}\}"
"""A template anywhere in a text, as a pattern for JSON Schema and `re`."""

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?)(B|K|M|G|T|KB|MB|GB|TB|KiB|MiB|GiB|TiB)")
_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12} | {
    f"{letter}{tail}": 1024**power for power, letter in enumerate("KMGT", 1) for tail in ("", "iB")
}
MAX_SECONDS = 10 * 365 * 86400
MAX_SIZE = 2**50


@dataclass(frozen=True, slots=True, kw_only=True)
class Type:
    """One type. `article` is how a message calls it, `form` what a valid value looks like.

    `schema` is its JSON Schema with templates left out; `normal` turns a value into its meaning and raises ValueError.
    """

    name: str
    article: str
    form: str
    schema: Mapping[str, object]
    normal: Callable[[Value], Value]


def _text(value: Value) -> str:
    if not isinstance(value, str):
        raise ValueError("not text")
    return value


def _kept(number: int) -> int:
    if abs(number) > LARGEST_NUMBER:
        raise ValueError("above 2^53")
    return number


def _integer(value: Value) -> int:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,16}", value):
        return _kept(int(value))
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError("not a whole number")
    return value


def _number(value: Value) -> int | float:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,16}(\.[0-9]{1,16})?", value):
        return float(value) if "." in value else _kept(int(value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError("not a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("not a number that can be counted with")
    return value


def _boolean(value: Value) -> bool:
    if value in ("true", "True"):
        return True
    if value in ("false", "False"):
        return False
    if not isinstance(value, bool):
        raise ValueError("not a boolean")
    return value


def _percent(value: Value) -> int | float:
    number = _number(value)
    if not 0 <= number <= 100:
        raise ValueError("outside 0 to 100")
    return number


def _port(value: Value) -> int:
    number = _integer(value)
    if not 1 <= number <= 65535:
        raise ValueError("outside 1 to 65535")
    return number


def _duration(value: Value) -> int | float:
    if isinstance(value, str):
        parts = re.fullmatch(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))+", value)
        if parts is None:
            if not re.fullmatch(r"[0-9.]+", value):
                raise ValueError("not a duration")
            seconds: int | float = _number(value)
        else:
            seconds = sum(float(amount) * _SECONDS[unit] for amount, unit in _DURATION.findall(value))
    else:
        seconds = _number(value)
    if not 0 <= seconds <= MAX_SECONDS:
        raise ValueError("outside 0 to ten years")
    seconds = round(seconds, 6)
    return int(seconds) if seconds == int(seconds) else seconds


def _size(value: Value) -> int:
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if isinstance(value, str) and not found and not value.isdecimal():
        raise ValueError("not a size")
    size = round(float(found[1]) * _BYTES[found[2]]) if found else _integer(value)
    if not 0 <= size <= MAX_SIZE:
        raise ValueError("outside 0 to 2^50 bytes")
    return size


def _mode(value: Value) -> str:
    text = _text(value)
    if not re.fullmatch(r"[0-7]{3,4}|([ugoa]*[-+=]([rwxXst]*|[ugo])+)(,[ugoa]*[-+=]([rwxXst]*|[ugo])+)*", text):
        raise ValueError("not a mode")
    return text


def _matching(pattern: str, why: str) -> Callable[[Value], Value]:
    compiled = re.compile(pattern)

    def normal(value: Value) -> Value:
        if not compiled.fullmatch(_text(value)):
            raise ValueError(why)
        return value

    return normal


def _url(value: Value) -> str:
    text = _text(value)
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or any(char.isspace() for char in text):
        raise ValueError("not an http or https address")
    if parts.port is not None and not 0 < parts.port < 65536:
        raise ValueError("its port is outside 1 to 65535")
    return text


_RE2 = re2.Options()
_RE2.log_errors = False


def _regex(value: Value) -> str:
    """RE2 keeps every match linear in time; Python's `re` must agree, because Ansible's `regexp` is Python's."""
    text = _text(value)
    try:
        re2.compile(text, _RE2)
    except re2.error as error:
        reason = error.args[0] if error.args else "not a regular expression"
        raise ValueError(reason.decode() if isinstance(reason, bytes) else str(reason)) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(str(error) or "too deeply nested") from None
    return text


def _shell(value: Value) -> str:
    text = _text(value)
    if not text.strip():
        raise ValueError("empty")
    return text


def _mapping(value: Value) -> Mapping[str, Value]:
    if not isinstance(value, Mapping):
        raise ValueError("not a mapping")
    return value


_PATH = r"/[^\x00\n]*"
_UNIT = r"[A-Za-z0-9:_.@\\-]+"
_USER = r"[a-z_][a-z0-9_.-]{0,31}\$?"


def _type(
    name: str, article: str, form: str, schema: Mapping[str, object], normal: Callable[[Value], Value]
) -> tuple[str, Type]:
    return name, Type(name=name, article=article, form=form, schema=schema, normal=normal)


TYPES: Mapping[str, Type] = MappingProxyType(
    dict(
        (
            _type(
                "string", "text", "`text`; in quotes where YAML would read something else", {"type": "string"}, _text
            ),
            _type("integer", "a whole number", "`42`", {"type": "integer"}, _integer),
            _type("number", "a number", "`42` or `0.5`", {"type": "number"}, _number),
            _type(
                "percent", "a percentage", "`0` to `100`", {"type": "number", "minimum": 0, "maximum": 100}, _percent
            ),
            _type("boolean", "true or false", "`true` or `false`", {"type": "boolean"}, _boolean),
            _type(
                "path",
                "an absolute path",
                "`/etc/nginx/nginx.conf`",
                {"type": "string", "pattern": f"^{_PATH}$"},
                _matching(_PATH, "not absolute"),
            ),
            _type(
                "mode",
                "a file mode",
                '`"0644"` in quotes, or `u+x`',
                {"type": "string", "pattern": "^([0-7]{3,4}|[ugoa]*[-+=].*)$"},
                _mode,
            ),
            _type(
                "duration",
                "a duration",
                "`5s`, `2m`, `1h30m`, `1d`, or a number of seconds",
                {"type": ["string", "number"], "pattern": r"^([0-9]+(\.[0-9]+)?(ms|s|m|h|d))+$", "minimum": 0},
                _duration,
            ),
            _type(
                "size",
                "a size",
                "`64KB` (1000), `10MiB` or `10M` (1024), `8GB`, or a number of bytes",
                {"type": ["string", "integer"], "pattern": r"^[0-9]+(\.[0-9]+)?(B|[KMGT](B|iB)?)$", "minimum": 0},
                _size,
            ),
            _type(
                "url", "an address", "`http://localhost:8080/health`", {"type": "string", "pattern": "^https?://"}, _url
            ),
            _type("port", "a port", "`1` to `65535`", {"type": "integer", "minimum": 1, "maximum": 65535}, _port),
            _type(
                "unit",
                "a systemd unit",
                "`nginx` or `logrotate.timer`",
                {"type": "string", "pattern": f"^{_UNIT}$"},
                _matching(_UNIT, "no name of a unit"),
            ),
            _type(
                "user",
                "the name of a user or group",
                "`www-data`",
                {"type": "string", "pattern": f"^{_USER}$"},
                _matching(_USER, "no name of a user"),
            ),
            _type(
                "regex",
                "a regular expression",
                "`^ERROR`; the syntax is RE2's, without look-around and back-references",
                {"type": "string", "format": "regex"},
                _regex,
            ),
            _type("shell", "shell text", "`systemctl restart nginx`", {"type": "string", "minLength": 1}, _shell),
            _type("mapping", "a mapping", "`{key: value}`", {"type": "object"}, _mapping),
        )
    )
)
LIST = "list of "
TYPE_NAMES: tuple[str, ...] = (*TYPES, *(f"{LIST}{name}" for name in TYPES))


def type_article(name: str) -> str:
    """How a message calls a type: `a port`, `a list of paths`."""
    if name.startswith(LIST):
        return f"a list (of {name.removeprefix(LIST)})"
    return TYPES[name].article


def type_form(name: str) -> str:
    if name.startswith(LIST):
        return f"a list, each item {TYPES[name.removeprefix(LIST)].form}"
    return TYPES[name].form


def schema_of(name: str) -> dict[str, object]:
    """The JSON Schema of a type, templates allowed."""
    if name.startswith(LIST):
        item = schema_of(name.removeprefix(LIST))
        return {"type": ["array", "string"], "items": item, "pattern": TEMPLATE, "title": type_article(name)}
    own = dict(TYPES[name].schema)
    kinds = own["type"] if isinstance(own["type"], list) else [own["type"]]
    if "string" not in kinds:
        own["type"] = [*kinds, "string"]
        own["pattern"] = TEMPLATE
    elif "pattern" in own:
        own["pattern"] = f"{own['pattern']}|{TEMPLATE}"
    return {**own, "title": TYPES[name].article, TYPE_KEYWORD: name}


TYPE_KEYWORD = "x-breakfix-type"
"""The key of a schema that names the type of its values: one of `TYPES`, or a part of a document (probe, task,
fault)."""
FIXED_KEYWORD = "x-breakfix-fixed"
"""The key of a schema whose value is written out: no template may stand there."""


def type_of(schema: Mapping[str, object]) -> Type | None:
    """The type that a schema says its values are of."""
    return TYPES.get(str(schema.get(TYPE_KEYWORD)))


def is_template(value: Value) -> bool:
    return isinstance(value, str) and re.search(TEMPLATE, value) is not None


def normal(type_name: str, value: Value) -> Value:
    """What a value means under a type (`64KB` -> 64000, `2m` -> 120); raises ValueError with the reason."""
    if type_name.startswith(LIST):
        if not isinstance(value, tuple):
            raise ValueError("not a list")
        inner = TYPES[type_name.removeprefix(LIST)]
        return tuple(inner.normal(item) for item in value)
    return TYPES[type_name].normal(value)


def bind(parameters: Sequence[Parameter], arguments: Mapping[str, Value]) -> dict[str, Value]:
    """Arguments as the thing that takes them sees them: defaults filled in, values in their meaning.

    Raises ValueError, naming the argument, for a value that is not of its type.
    """
    bound: dict[str, Value] = {}
    for parameter in parameters:
        value = arguments.get(parameter.name, parameter.default)
        try:
            bound[parameter.name] = None if value is None else normal(parameter.type, value)
        except ValueError as error:
            raise ValueError(f"{parameter.name}: {error}") from None
    return bound
