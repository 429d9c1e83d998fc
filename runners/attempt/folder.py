"""An attempt on disk: `attempt.jsonl`, the outputs by their hashes, and in the end the receipt.

```
<folder>/attempt.jsonl            the log, one event a line
<folder>/evidence/<sha256>        every output, without secrets
<folder>/receipt.dsse.json        for VERIFIED alone
```
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from compiler.layout import sha256
from compiler.reading import names_in, read_file
from compiler.receipts import RECEIPT
from runners.attempt.events import Event, LogError, from_lines, to_lines
from scenario_dsl.errors import AuthorError
from scenario_dsl.writing import write_file

LOG = "attempt.jsonl"
EVIDENCE = "evidence"
_NOTHING_NEW: Mapping[str, bytes] = MappingProxyType({})


def begin(folder: Path) -> None:
    """Raises AuthorError where the folder holds something already."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise AuthorError(f"{folder} is there already; name a new folder for this attempt")


def read(folder: Path) -> tuple[tuple[Event, ...], Mapping[str, bytes]]:
    """The log and the outputs. Raises LogError where either was changed, AuthorError where there is no attempt."""
    if not (folder / LOG).is_file():
        raise AuthorError(f"{folder} holds no attempt; begin with `breakfix attempt start SCENARIO --out {folder}`")
    events = from_lines(read_file(folder / LOG), str(folder / LOG))
    outputs = read_outputs(folder)
    for name, output in outputs.items():
        if sha256(output) != name:
            raise LogError(f"{folder / EVIDENCE / name}: was changed since it was seen")
    return events, outputs


def read_outputs(folder: Path) -> Mapping[str, bytes]:
    """The files of the evidence, by their names; empty where there is no such folder."""
    evidence = folder / EVIDENCE
    return {name: read_file(evidence / name) for name in names_in(evidence)} if evidence.is_dir() else {}


def write(
    folder: Path, events: Sequence[Event], outputs: Mapping[str, bytes] = _NOTHING_NEW, receipt: bytes | None = None
) -> None:
    """The outputs first and the log last, so that whatever the log speaks of is there. Raises HostError."""
    _write_outputs(folder, outputs)
    if receipt is not None:
        write_file(folder / RECEIPT, receipt)
    write_file(folder / LOG, to_lines(events))


def write_receipt(folder: Path, receipt: bytes, outputs: Mapping[str, bytes]) -> None:
    """A receipt with its outputs, without an attempt's log. Raises HostError."""
    _write_outputs(folder, outputs)
    write_file(folder / RECEIPT, receipt)


def _write_outputs(folder: Path, outputs: Mapping[str, bytes]) -> None:
    for name, output in outputs.items():
        if not (folder / EVIDENCE / name).exists():
            write_file(folder / EVIDENCE / name, output)
