"""The tar of a bundle: one byte string for one set of files, whoever writes it, wherever and whenever."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Mapping

from compiler.layout import LARGEST_FILE, MOST_FILES, is_bundle_path
from compiler.refusals import BadPath, BadTar, TooLarge, TooMany


def pack(files: Mapping[str, bytes]) -> bytes:
    """The files as ustar: sorted by path, no folders, mode 0644, owner 0, time 0."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(files):
            if not is_bundle_path(path):
                raise BadPath(path)
            entry = tarfile.TarInfo(path)
            entry.size = len(files[path])
            entry.mode = 0o644
            archive.addfile(entry, io.BytesIO(files[path]))
    return buffer.getvalue()


def unpack(data: bytes, *, name: str) -> Mapping[str, bytes]:
    """The files of a tar, which must be exactly what `pack` writes; `name` is what errors call it.

    Nothing is written anywhere. Raises BadTar, BadPath, TooLarge or TooMany.
    """
    files: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
            for entry in archive:
                if not is_bundle_path(entry.name):
                    raise BadPath(entry.name)
                if not entry.isreg():
                    raise BadTar(name, f"{entry.name} is not a plain file")
                if entry.name in files:
                    raise BadTar(name, f"{entry.name} is in it twice")
                if entry.size > LARGEST_FILE:
                    raise TooLarge(entry.name, LARGEST_FILE)
                if len(files) >= MOST_FILES:
                    raise TooMany(name, MOST_FILES)
                content = archive.extractfile(entry)
                assert content is not None  # only folders and links have none
                files[entry.name] = content.read()
    except (tarfile.TarError, OSError, ValueError, EOFError) as error:
        raise BadTar(name, f"is not a readable tar: {error}") from error
    if pack(files) != data:
        raise BadTar(name, "is not the one way to write its files as a tar; bytes were changed or it was packed anew")
    return files
