"""One-liners of other languages, as far as they reach for the shell or for the file system."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from runners.typed.values import Value

LANGUAGES = frozenset({"python", "python3", "python2", "perl", "ruby", "node", "php"})
_TELLS = frozenset({"-c", "-e", "-E", "-r"})
_TEXT = r"""(?:[rbf]?(?P<q>['"])(?P<text>(?:\\.|(?!(?P=q)).)*)(?P=q))"""
_SHELL = re.compile(
    rf"\b(?:system|popen|Popen|run|call|check_call|check_output|exec|execSync|spawn|qx|shell_exec|getoutput)\s*\(?\s*{_TEXT}"
)
_TICKS = re.compile(r"`(?P<text>[^`]*)`|\bqx\{(?P<more>[^}]*)\}")
_TREE = re.compile(rf"\b(?:rmtree|remove_tree|rm_rf|rm_r|rmSync|remove_entry)\b\s*\(?\s*{_TEXT}")
_FILE = re.compile(rf"\b(?:os\.remove|os\.unlink|unlink|unlinkSync)\b\s*\(?\s*{_TEXT}")
_WRITE = re.compile(rf"\bopen\s*\(\s*{_TEXT}\s*,\s*['\"][wa+br]*[wa+][wa+b]*['\"]")
_LIST = re.compile(r"\b(?:run|call|check_call|check_output|Popen|system|exec|spawn)\s*\(\s*\[(?P<items>[^\]]*)\]")
_ITEM = re.compile(_TEXT)
_FORKS = re.compile(r"\bwhile\b[^\n]*\bfork\b|\bfork\b[^\n]*\bwhile\b|\bwhile\b[^\n]*:\s*\n?\s*(?:os\.)?fork\s*\(")


class Script(NamedTuple):
    """`shell`: texts handed to a shell. `commands`: programs run, or what amounts to them. `written`: files opened for
    writing. `multiplies`: it forks without end."""

    shell: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    written: tuple[str, ...]
    multiplies: bool


def told_script(arguments: Sequence[Value]) -> Script | None:
    """The script that stands on the command line itself."""
    code = next((arguments[index + 1].text for index, value in enumerate(arguments[:-1]) if _tells(value.text)), None)
    if code is None:
        return None
    texts = [match["text"] for match in _SHELL.finditer(code)]
    texts += [match["text"] or match["more"] or "" for match in _TICKS.finditer(code)]
    commands = [("rm", "-rf", match["text"]) for match in _TREE.finditer(code)]
    commands += [("rm", "-f", match["text"]) for match in _FILE.finditer(code)]
    lists = [tuple(item["text"] for item in _ITEM.finditer(match["items"])) for match in _LIST.finditer(code)]
    return Script(
        shell=tuple(texts),
        commands=(*commands, *(words for words in lists if words)),
        written=tuple(match["text"] for match in _WRITE.finditer(code)),
        multiplies=_FORKS.search(code) is not None,
    )


def _tells(word: str) -> bool:
    return word in _TELLS or (
        word.startswith("-") and not word.startswith("--") and word[-1:] in "ceE" and word[1:].isalnum()
    )
