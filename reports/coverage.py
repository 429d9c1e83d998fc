"""Records held against the plan of their run: is each one of it, as it was planned, and how many are still to come?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from reports.reading import Reading
from runners.records import Trial
from runners.records_io import RecordsError


def still_missing(reading: Reading, planned: Iterable[tuple[str, Trial]]) -> int:
    """How many of the planned trials, as (id, trial), have no record. Ids are those that follow from the plan.

    Raises RecordsError for a record that the plan does not have, or whose trial differs from the planned one.
    """
    found = {item.record.trial_id: item for item in reading.kept}
    missing = 0
    for identifier, trial in planned:
        item = found.pop(identifier, None)
        if item is None:
            missing += 1
        elif item.record.trial != trial:
            differing = next(
                f.name for f in fields(trial) if getattr(trial, f.name) != getattr(item.record.trial, f.name)
            )
            raise RecordsError(
                f"{item.path}: the record of trial {identifier[:16]} is not about what was planned: its {differing} is "
                f"{getattr(item.record.trial, differing)!r}, planned was {getattr(trial, differing)!r}"
            )
    for identifier, item in found.items():
        raise RecordsError(f"{item.path}: the record of trial {identifier[:16]} is of no trial of the run's plan")
    return missing
