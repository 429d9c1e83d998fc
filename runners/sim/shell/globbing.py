"""Pathname expansion over the machine's tree."""

from __future__ import annotations

from collections.abc import Callable

from runners.sim.files.view import FileView
from runners.sim.shell.patterns import is_pattern, matcher, unescape


def expand(
    view: FileView,
    pattern: str,
    spend: Callable[[int], None],
    *,
    dotglob: bool = False,
    skip_dots: bool = True,
    globstar: bool = False,
    ignore_case: bool = False,
    extglob: bool = True,
) -> list[str]:
    """The paths that match, sorted; empty if none does. skip_dots: `.` and `..` never do."""
    prefix = "/" if pattern.startswith("/") else ""
    found = [prefix]
    components = [part for part in pattern.split("/") if part]
    directories_only = pattern.endswith("/")
    for index, component in enumerate(components):
        last = index == len(components) - 1
        following: list[str] = []
        if not is_pattern(component, extglob):
            name = unescape(component)
            for base in found:
                spend(2)
                path = base + name
                if _exists(view, path):
                    following.append(path if last and not directories_only else path + "/")
        elif component == "**" and globstar:
            for base in found:
                following += _descend(view, base, spend, dotglob, last and not directories_only)
        else:
            for base in found:
                following += _matching(
                    view,
                    base,
                    component,
                    spend,
                    last and not directories_only,
                    dotglob,
                    skip_dots,
                    ignore_case,
                    extglob,
                )
        found = following
        if not found:
            return []
    return sorted(found)


def _exists(view: FileView, path: str) -> bool:
    try:
        return view.find(path, follow=False).inode is not None
    except OSError:
        return False


def _matching(
    view: FileView,
    base: str,
    component: str,
    spend: Callable[[int], None],
    last: bool,
    dotglob: bool,
    skip_dots: bool,
    ignore_case: bool,
    extglob: bool,
) -> list[str]:
    try:
        names = view.names(base or ".")
    except OSError:
        return []
    spend(2 + len(names))
    matches = matcher(component, spend, extglob=extglob, ignore_case=ignore_case).fullmatch
    hidden = component.startswith((".", "\\."))
    candidates = [".", "..", *names] if hidden and not skip_dots else names
    chosen = [
        name for name in candidates if (hidden or dotglob or not name.startswith(".")) and matches(name)
    ]  # fmt: skip
    if last:
        return [base + name for name in chosen]
    # (Below a made-up file system every look makes the whole folder up again.)
    spend((40 if base.startswith(("/proc", "/sys")) else 8) * len(chosen))
    return [base + name + "/" for name in chosen if _is_directory(view, base + name)]


def _is_directory(view: FileView, path: str) -> bool:
    try:
        return view.stat(path).is_dir
    except OSError:
        return False


def _descend(view: FileView, base: str, spend: Callable[[int], None], dotglob: bool, files_too: bool) -> list[str]:
    found = [base] if base or not files_too else []
    pending = [base]
    while pending:
        here = pending.pop()
        try:
            names = view.names(here or ".")
        except OSError:
            continue
        spend(2 + len(names))
        for name in names:
            if name.startswith(".") and not dotglob:
                continue
            path = here + name
            inode = view.stat(path, follow=False)
            if inode.is_dir:
                pending.append(path + "/")
                found.append(path if files_too else path + "/")
            elif files_too:
                found.append(path)
    return found
