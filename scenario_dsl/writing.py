"""Writing so that nobody ever sees half of it: into a temporary neighbour, then renamed.

The language itself writes nothing. This stands here, beside the errors, because bundles, runs and reports all write so,
and what all of them may import is here.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scenario_dsl.errors import HostError


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """What the system refuses inside is a HostError about `path`."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"cannot write {path}: {error.strerror or error}", remedy="name a place that can be written and has room"
        ) from error


def write_file(path: Path, data: bytes) -> None:
    """Create or replace one file (mode 0644), with the folders above it where they are missing. Raises HostError."""
    with writing_to(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_file(path, data)


def write_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    """Create or replace a whole folder (files 0644, folders 0755). What was there before goes away with the rename.

    Raises HostError; the folder is then as it was.
    """
    with writing_to(folder):
        _write_tree(folder.absolute(), files)


def _write_file(path: Path, data: bytes) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            os.fchmod(file.fileno(), 0o644)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _write_tree(folder: Path, files: Mapping[str, bytes]) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        fresh = temporary / "new"
        fresh.mkdir()
        for path, data in files.items():
            target = fresh / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(0o644)
        for below in (fresh, *(path for path in fresh.rglob("*") if path.is_dir())):
            below.chmod(0o755)
        if folder.exists():
            # A folder that holds something cannot be renamed over; this is the shortest moment without one.
            os.rename(folder, temporary / "old")
            try:
                os.rename(fresh, folder)
            except BaseException:
                os.rename(temporary / "old", folder)
                raise
        else:
            os.rename(fresh, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
