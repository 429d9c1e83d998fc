"""lineinfile: one line of a file is there, or is not."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from runners.sim.files.content import Content
from runners.sim.machine import Machine
from runners.sim.tasks.arguments import Arguments
from runners.sim.tasks.files import find, make_parents, read_text, replace_file, set_attributes
from runners.sim.tasks.result import ModuleFailure, TaskResult
from scenario_dsl.values import Value


class Edit(NamedTuple):
    """What to look for and where to put the line. `after`/`before`: a pattern, EOF, BOF or None."""

    line: str
    regexp: re.Pattern[str] | None
    search: str | None
    after: str | None
    before: str | None
    backrefs: bool
    first: bool


def run(machine: Machine, arguments: Arguments) -> TaskResult:
    path = arguments.require_path("path")
    arguments.exclusive("insertbefore", "insertafter")
    arguments.exclusive("regexp", "search_string")
    arguments.exclusive("backrefs", "search_string")
    state = arguments.choice("state", ("present", "absent"), "present")
    inode = find(machine, path, follow=True)
    if inode is not None and inode.is_dir:
        raise ModuleFailure(f"Path {path} is a directory !", {"rc": 256})
    line, regexp, search = arguments.text("line"), arguments.text("regexp"), arguments.text("search_string")
    edit = Edit(
        line=line or "",
        regexp=compile_pattern(regexp),
        search=search,
        after=arguments.text("insertafter"),
        before=arguments.text("insertbefore"),
        backrefs=arguments.flag("backrefs"),
        first=arguments.flag("firstmatch"),
    )
    if state == "absent":
        if (regexp, search, line) == (None, None, None):
            raise ModuleFailure("one of line, search_string, or regexp is required with state=absent")
        if inode is None:
            return TaskResult(msg="file not present")
        old = split_lines(read_text(machine, path))
        new = [one for one in old if not _matches(one, edit, line)]
        message = f"{len(old) - len(new)} line(s) removed" if len(new) < len(old) else ""
        return save(machine, arguments, path, old, new, message, {"found": len(old) - len(new)})
    if edit.backrefs and edit.regexp is None:
        raise ModuleFailure("regexp is required with backrefs=true")
    if line is None:
        raise ModuleFailure("line is required with state=present")
    if inode is None:
        if not arguments.flag("create"):
            raise ModuleFailure(f"Destination {path} does not exist !", {"rc": 257})
        make_parents(machine, path)
    old = split_lines(read_text(machine, path)) if inode is not None else []
    new = present(old, edit)
    message = "" if new == old else ("line replaced" if len(new) == len(old) else "line added")
    return save(machine, arguments, path, old, new, message, {})


def present(lines: list[str], edit: Edit) -> list[str]:
    """The lines with the wanted one among them."""
    found: int | None = None
    match: re.Match[str] | None = None
    for index, one in enumerate(lines):
        hit = edit.regexp.search(one) if edit.regexp is not None else None
        if hit is not None or (edit.search is not None and edit.search in one):
            found, match = index, hit
            if edit.first:
                break
    if found is not None:
        text = match.expand(edit.line) if edit.backrefs and match is not None else edit.line
        return [*lines[:found], _ended(text), *lines[found + 1 :]]
    if edit.backrefs:
        return _exact(lines, edit.line)
    same = [index for index, one in enumerate(lines) if _bare(one) == edit.line]
    if same:
        return _exact(lines, edit.line)
    return _inserted(lines, edit)


def _exact(lines: list[str], line: str) -> list[str]:
    """A line that is there already only gains its newline, where it was the last and had none."""
    same = [index for index, one in enumerate(lines) if _bare(one) == line]
    if not same:
        return lines
    return [*lines[: same[-1]], _ended(line), *lines[same[-1] + 1 :]]


def _inserted(lines: list[str], edit: Edit) -> list[str]:
    new = _ended(edit.line)
    if edit.before == "BOF" or edit.after == "BOF":
        return [new, *lines]
    place = None
    if edit.after not in (None, "EOF") or edit.before is not None:
        pattern = compile_pattern(edit.after if edit.before is None else edit.before)
        assert pattern is not None
        hits = [index for index, one in enumerate(lines) if pattern.search(one)]
        if hits:
            place = hits[0] if edit.first else hits[-1]
            place += 1 if edit.before is None else 0
    if place is None:
        # Only a line put at the end for want of a better place gets a newline before it, not one after a match there.
        place = len(lines)
        if lines and not lines[-1].endswith(("\n", "\r")):
            lines = [*lines[:-1], lines[-1] + "\n"]
    return [*lines[:place], new, *lines[place:]]


def _matches(one: str, edit: Edit, line: str | None) -> bool:
    if edit.regexp is not None:
        return edit.regexp.search(one) is not None
    if edit.search is not None:
        return edit.search in one
    return _bare(one) == line


def save(
    machine: Machine,
    arguments: Arguments,
    path: str,
    old: list[str],
    new: list[str],
    message: str,
    values: Mapping[str, Value],
) -> TaskResult:
    """Write the lines back where they differ, then see to owner and mode."""
    changed = new != old or find(machine, path, follow=True) is None
    if changed:
        replace_file(machine, path, Content.of("".join(new).encode("utf-8", "surrogateescape")))
    if set_attributes(machine, path, arguments):
        message += f"{' and ' if changed else ''}ownership, perms or SE linux context changed"
        changed = True
    return TaskResult(changed=changed, msg=message, values=values)


def split_lines(text: str) -> list[str]:
    """Lines with their newline; only the newline ends one."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)


def compile_pattern(pattern: str | None, flags: int = 0) -> re.Pattern[str] | None:
    """A Python regular expression, as these modules take them."""
    if pattern is None:
        return None
    try:
        return re.compile(pattern, flags)
    except re.error as error:
        raise ModuleFailure(f"invalid regular expression {pattern!r}: {error}") from error


def _ended(line: str) -> str:
    return line if line.endswith("\n") else line + "\n"


def _bare(line: str) -> str:
    return line.rstrip("\r\n")
