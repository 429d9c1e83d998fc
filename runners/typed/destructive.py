"""Which invocations would destroy the machine, and what they would destroy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from runners.text import is_digits
from runners.typed.finds import Find
from runners.typed.reading import Typed
from runners.typed.values import Invocation, Value
from runners.typed.vital import PACKAGES, is_disk, is_vital_file, tree_of

_OVERWRITES = frozenset({">", ">|", "&>", "<>", ">&"})
_ANY_WRITE = _OVERWRITES | {">>", "&>>"}
_CLOSES = re.compile(r"0{1,4}|[0-7]?[0-6][0-7]{2}|[ugoa]*[-=](?:[rwx]*x[rwx]*)?")
"""Modes that may take the right to pass through from somebody, in digits or letters; `_lets_through` says which do."""


def destructive(typed: Typed) -> str | None:
    """What the line would destroy, in words; None where nothing of the kind can be seen."""
    if typed.multiplies:
        return "it starts itself again and again until the machine stands still"
    for invocation in typed.invocations:
        reason = next(_reasons(invocation), None)
        if reason is not None:
            return reason
    return None


def _reasons(invocation: Invocation) -> Iterator[str]:
    for operator, target in invocation.redirections:
        path = invocation.path(target)
        if operator in _ANY_WRITE and is_disk(path, glob=target.glob):
            yield f"it overwrites the disk {path}"
        if operator in _OVERWRITES and is_vital_file(path) and path != "/dev/null":
            yield f"it empties {path}"
        if operator in _ANY_WRITE and path == "/proc/sysrq-trigger":
            yield "it resets the machine at once"
    name = invocation.program
    if not name or any(value.text in ("--help", "--version") for value in invocation.arguments):
        return
    if name.startswith("mkfs.") or name == "mkfs":
        yield from _formats(invocation)
    judge = _JUDGES.get(name)
    if judge is not None:
        yield from judge(invocation)


def _operands(invocation: Invocation) -> list[Value]:
    """The arguments that are no options."""
    operands: list[Value] = []
    ended = False
    for value in invocation.arguments:
        if not ended and value.text == "--":
            ended = True
        elif ended or not value.text.startswith("-") or value.text == "-":
            operands.append(value)
    return operands


def _has(invocation: Invocation, letters: str, *names: str) -> bool:
    """Is one of the short options (alone or among others) or of the long ones given?"""
    for value in invocation.arguments:
        text = value.text
        if text == "--":
            return False
        if text.startswith("--"):
            if any(text == name or (len(text) > 3 and name.startswith(text)) for name in names):
                return True
        elif text.startswith("-") and any(letter in text[1:] for letter in letters):
            return True
    return False


def _trees(invocation: Invocation, values: list[Value]) -> Iterator[str]:
    for value in values:
        tree = tree_of(invocation.path(value), glob=value.glob)
        if tree is not None:
            yield "everything" if tree == "/" else tree


def _files(invocation: Invocation, values: list[Value]) -> Iterator[str]:
    for value in values:
        path = invocation.path(value)
        if is_vital_file(path, glob=value.glob):
            yield path


def _removes(invocation: Invocation) -> Iterator[str]:
    operands = _operands(invocation)
    recursive = _has(invocation, "rR", "--recursive")
    if recursive and _has(invocation, "", "--no-preserve-root") and any(not value.known for value in operands):
        yield "it removes whatever it is, the root too"
    reached = operands if recursive else [value for value in operands if value.glob]
    yield from (f"it removes {tree}" for tree in _trees(invocation, reached))
    yield from (f"it removes {path}" for path in _files(invocation, operands))


def _finds(invocation: Invocation) -> Iterator[str]:
    search = Find.of(invocation)
    if search.deletes and not search.narrow:
        yield from (f"it removes {tree}" for tree in _trees(invocation, list(search.roots)))


def _copies_blocks(invocation: Invocation) -> Iterator[str]:
    for value in invocation.arguments:
        if value.text.startswith("of="):
            yield from _overwrites(invocation, [value._replace(text=value.text[3:])])


def _overwrites(invocation: Invocation, values: list[Value]) -> Iterator[str]:
    for value in values:
        path = invocation.path(value)
        if is_disk(path, glob=value.glob):
            yield f"it overwrites the disk {path}"
        elif is_vital_file(path, glob=value.glob) and path != "/dev/null":
            yield f"it overwrites {path}"


def _formats(invocation: Invocation) -> Iterator[str]:
    if invocation.program not in ("mkswap", "wipefs") and _has(invocation, "n"):
        return
    for value in _operands(invocation):
        path = invocation.path(value)
        if is_disk(path, glob=value.glob):
            yield f"it formats the disk {path}"


def _wipes(invocation: Invocation) -> Iterator[str]:
    if not _has(invocation, "n", "--no-act") and _has(invocation, "ao", "--all", "--offset"):
        yield from _formats(invocation)


def _partitions(invocation: Invocation) -> Iterator[str]:
    texts = {value.text for value in invocation.arguments}
    looks = {"print", "-l", "--list", "-p", "--print", "-d", "--dump", "-s", "--verify", "-v", "unit", "align-check"}
    changes = {"mklabel", "mktable", "rm", "mkpart", "resizepart", "-Z", "--zap-all", "-z", "--zap", "-o", "--clear"}
    if (texts & changes or not texts & looks) and any(is_disk(value.text) for value in invocation.arguments):
        yield "it changes the disk's partitions"


def _on_a_disk(invocation: Invocation) -> Iterator[str]:
    if any(is_disk(value.text, glob=value.glob) for value in invocation.arguments):
        yield f"{invocation.program} destroys what the disk holds"


def _encrypts(invocation: Invocation) -> Iterator[str]:
    if any(value.text in ("luksFormat", "erase", "luksErase") for value in invocation.arguments):
        yield from _on_a_disk(invocation)


def _told_so(invocation: Invocation, *options: str) -> Iterator[str]:
    if any(value.text.startswith(options) for value in invocation.arguments):
        yield from _on_a_disk(invocation)


def _shreds(invocation: Invocation) -> Iterator[str]:
    operands = _operands(invocation)
    yield from _overwrites(invocation, operands)
    yield from (f"it overwrites {tree}" for tree in _trees(invocation, operands))


def _truncates(invocation: Invocation) -> Iterator[str]:
    yield from _overwrites(invocation, _operands(invocation))


def _copies(invocation: Invocation) -> Iterator[str]:
    operands = _operands(invocation)
    if len(operands) > 1:
        yield from _overwrites(invocation, operands[-1:])


def _moves(invocation: Invocation) -> Iterator[str]:
    operands = _operands(invocation)
    target = next((v.text for v in invocation.arguments if v.text.startswith(("-t", "--target-directory"))), None)
    sources = operands if target is not None else operands[:-1]
    yield from (f"it moves {tree} away" for tree in _trees(invocation, sources))
    yield from (f"it moves {path} away" for path in _files(invocation, sources))
    if target is None:
        yield from _overwrites(invocation, operands[-1:] if len(operands) > 1 else [])


def _links(invocation: Invocation) -> Iterator[str]:
    operands = _operands(invocation)
    if _has(invocation, "f", "--force") and len(operands) > 1:
        yield from (f"it puts a link in the place of {path}" for path in _files(invocation, operands[-1:]))


def _writes(invocation: Invocation) -> Iterator[str]:
    operands = _operands(invocation)
    if not _has(invocation, "a", "--append"):
        yield from _overwrites(invocation, operands)
    else:
        yield from _overwrites(invocation, [value for value in operands if is_disk(invocation.path(value))])
    if any(invocation.path(value) == "/proc/sysrq-trigger" for value in operands):
        yield "it resets the machine at once"


def _opens(invocation: Invocation) -> Iterator[str]:
    """chmod, chown, chgrp, setfacl, chattr: a whole tree, or the way into one closed."""
    operands = _operands(invocation)
    reference = any(value.text.startswith("--reference") for value in invocation.arguments)
    letters = [value for value in invocation.arguments if re.fullmatch(r"-[rwxXst]+", value.text)]
    targets = operands if reference or letters else operands[1:]
    verb = "mode" if invocation.program == "chmod" else "owner or rights"
    if _has(invocation, "R", "--recursive"):
        yield from (f"it changes the {verb} of all of {tree}" for tree in _trees(invocation, targets))
    if invocation.program == "chmod":
        mode = letters[0].text if letters else (operands[0].text if operands else "")
        if _CLOSES.fullmatch(mode) and not _lets_through(mode):
            yield from (f"it closes {tree} to everybody" for tree in _trees(invocation, targets))
            yield from (f"nobody may run {path} any more" for path in _programs(invocation, targets))


def _programs(invocation: Invocation, values: list[Value]) -> Iterator[str]:
    return (path for path in _files(invocation, values) if not path.startswith(("/etc/", "/dev/", "/boot/")))


def _lets_through(mode: str) -> bool:
    """May others still enter a folder of that mode?"""
    if is_digits(mode):
        return bool(int(mode[-1]) & 1)
    return "x" not in mode or mode[0] in "ug" or (mode[-1:] != "" and "=" in mode)


def _unpacks(invocation: Invocation) -> Iterator[str]:
    if any(value.text == "--remove-files" for value in invocation.arguments):
        yield from (f"it removes {tree}" for tree in _trees(invocation, _operands(invocation)))


def _mirrors(invocation: Invocation) -> Iterator[str]:
    if any(value.text.startswith("--del") for value in invocation.arguments) and not _has(invocation, "n", "--dry-run"):
        target = [value._replace(text=value.text.rstrip("/") or "/") for value in _operands(invocation)[-1:]]
        yield from (f"it empties {tree}" for tree in _trees(invocation, target))


def _kills(invocation: Invocation) -> Iterator[str]:
    texts = [value.text for value in invocation.arguments]
    if texts and texts[-1] == "-1" and (len(texts) > 1):
        yield "it kills every process"


def _kills_all(invocation: Invocation) -> Iterator[str]:
    yield f"{invocation.program} kills every process"


def _uninstalls(invocation: Invocation) -> Iterator[str]:
    texts = [value.text for value in invocation.arguments]
    if any(text in ("-s", "--simulate", "--dry-run", "--just-print", "--no-act") for text in texts):
        return
    if any(text in ("remove", "purge", "autoremove", "-r", "-P", "--remove", "--purge") for text in texts):
        for value in _operands(invocation):
            if PACKAGES.fullmatch(value.text):
                yield f"it removes the package {value.text}"


def _deletes_user(invocation: Invocation) -> Iterator[str]:
    if any(value.text == "root" for value in _operands(invocation)):
        yield "it removes root's account"


_JUDGES: Mapping[str, Callable[[Invocation], Iterator[str]]] = {
    "rm": _removes,
    "srm": _removes,
    "unlink": _removes,
    "find": _finds,
    "dd": _copies_blocks,
    "mke2fs": _formats,
    "mkswap": _formats,
    "mkdosfs": _formats,
    "wipefs": _wipes,
    "fdisk": _partitions,
    "sfdisk": _partitions,
    "cfdisk": _partitions,
    "gdisk": _partitions,
    "sgdisk": _partitions,
    "parted": _partitions,
    "blkdiscard": _on_a_disk,
    "pvremove": _on_a_disk,
    "cryptsetup": _encrypts,
    "mdadm": lambda invocation: _told_so(invocation, "--zero-superblock"),
    "hdparm": lambda invocation: _told_so(invocation, "--security-erase", "--trim-sector"),
    "nvme": lambda invocation: _told_so(invocation, "format", "sanitize"),
    "badblocks": lambda invocation: _told_so(invocation, "-w", "-sw", "-wsv"),
    "shred": _shreds,
    "wipe": _shreds,
    "truncate": _truncates,
    "cp": _copies,
    "install": _copies,
    "mv": _moves,
    "ln": _links,
    "tee": _writes,
    "chmod": _opens,
    "chown": _opens,
    "chgrp": _opens,
    "setfacl": _opens,
    "chattr": _opens,
    "tar": _unpacks,
    "rsync": _mirrors,
    "kill": _kills,
    "killall5": _kills_all,
    "apt": _uninstalls,
    "apt-get": _uninstalls,
    "aptitude": _uninstalls,
    "dpkg": _uninstalls,
    "userdel": _deletes_user,
    "deluser": _deletes_user,
}
