"""Plain values as YAML text: one way to write each, read alike by YAML 1.1 and 1.2 readers."""

from __future__ import annotations

from typing import Any

import yaml


class Unsafe(str):
    """Text that Ansible must take as it is, whatever braces it holds (written with the tag `!unsafe`)."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    """Block style, lists indented below their key, no anchors."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 (the base class's signature)
        return True

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002 (likewise)
        super().increase_indent(flow, False)


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def _unsafe(dumper: yaml.SafeDumper, text: Unsafe) -> yaml.ScalarNode:
    return dumper.represent_scalar("!unsafe", str(text), style="|" if "\n" in text else "'")


_Dumper.add_representer(str, _text)
_Dumper.add_representer(Unsafe, _unsafe)


def write(value: object) -> bytes:
    """`value` (dicts, lists, scalars, `Unsafe`) as one YAML document; keys stay in their order."""
    text: str = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=False,
        default_flow_style=False,
        allow_unicode=True,
        width=2**20,
        explicit_start=True,
    )
    return text.encode()
