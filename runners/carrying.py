"""Taking over from an earlier run what is the same in this one: only what changed is played again.

A trial's id covers all that decides its course (bundle, agent with its settings, limits, seed, ...), so the earlier
record is this trial's too. It keeps what it says and gains an `origin`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from runners.record_index import entries_like
from runners.records_io import Line, read_records_at, records_file

_BATCH = 200


def carried(folder: Path, wanted: Collection[str]) -> Iterator[Sequence[Line]]:
    """The last records of these trials in an earlier run, in the order they were written there.

    Errored ones are left out: they are played again. Raises RecordsError.
    """
    records_file(folder)
    last = {entry.trial_id: entry for entry in entries_like(folder, "") if entry.trial_id in wanted}
    chosen = sorted((entry for entry in last.values() if entry.outcome != "Errored"), key=lambda entry: entry.start)
    for begin in range(0, len(chosen), _BATCH):
        places = [(entry.start, entry.length) for entry in chosen[begin : begin + _BATCH]]
        yield [
            Line.of(replace(record, origin=record.origin or folder.name)) for record in read_records_at(folder, places)
        ]
