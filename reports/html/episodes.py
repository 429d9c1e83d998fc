"""The viewer's data: one index of all episodes, and their records in chunks that it loads when somebody looks.

A page opened from a folder may fetch nothing, but it may load a script. So each part is a script of one call,
`breakfix("NAME", "TEXT")`, where TEXT is deflated JSON in base64: nothing that an agent wrote stands there as code.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Hashable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import pandas as pd

from reports.frames import Frames
from reports.reading import Kept, Reading, documents
from reports.text import printable

FOLDER = "data"
INDEX_NAME = "episodes"
_CHUNK_BYTES = 1 << 20
"""So much of records' JSON goes into one chunk, or one record that is longer; deflated it is about a tenth."""
_LEVEL = 6
_SHORTEST_ID = 8


def chunks_of(kept: Sequence[Kept]) -> list[int]:
    """The number of the first record of each chunk."""
    starts: list[int] = []
    size = _CHUNK_BYTES
    for number, item in enumerate(kept):
        if size + item.length > _CHUNK_BYTES:
            starts.append(number)
            size = 0
        size += item.length
    return starts


def viewer_files(reading: Reading, frames: Frames) -> Iterator[tuple[str, bytes]]:
    """(path in the report's folder, bytes) of the index and of each chunk. `frames` are `named` ones."""
    starts = chunks_of(reading.kept)
    yield f"{FOLDER}/{INDEX_NAME}.js", _script(INDEX_NAME, json.dumps(_index(frames, starts), allow_nan=False).encode())
    for number, (first, end) in enumerate(pairwise([*starts, len(reading.kept)])):
        name = f"t{number:05d}"
        yield f"{FOLDER}/{name}.js", _script(name, b"[" + b",".join(documents(reading.kept[first:end])) + b"]")


def _script(name: str, data: bytes) -> bytes:
    packed = base64.b64encode(zlib.compress(data, _LEVEL))
    return b'breakfix("' + name.encode() + b'","' + packed + b'");\n'


def _index(frames: Frames, starts: Sequence[int]) -> dict[str, Any]:
    """Columns, one entry for each episode in the order of the records; words as numbers of a list of words."""
    trials = frames.trials.merge(
        frames.attempts[["attempt_id", "verdict", "player", "scenario_label"]], on="attempt_id", how="left", sort=False
    )
    length = _id_length(trials["trial_id"])
    words = {
        "agent": trials["player"],
        "scenario": trials["scenario_label"],
        "world": trials["world"],
        "role": trials["role"],
        "verdict": trials["verdict"],
        "outcome": trials["outcome"],
    }
    numbers = ("seed", "attempt", "score", "full_score", "reward", "commands", "seconds", "harms", "retries")
    return {
        "count": len(trials),
        "words": {name: _coded(column) for name, column in words.items()},
        "numbers": {name: [None if pd.isna(value) else value for value in trials[name].tolist()] for name in numbers},
        "group": pd.factorize(trials["attempt_id"])[0].tolist(),
        "ids": "".join(identifier[:length] for identifier in trials["trial_id"]),
        "idLength": length,
        "chunks": list(starts),
    }


def _coded(column: pd.Series) -> dict[str, list[Hashable]]:
    codes, names = pd.factorize(column)
    return {"names": [printable(str(name)) for name in names], "codes": codes.tolist()}


def _id_length(identifiers: pd.Series) -> int:
    """How many first characters tell all ids apart."""
    longest = int(identifiers.str.len().max()) if len(identifiers) else _SHORTEST_ID
    for length in range(_SHORTEST_ID, longest):
        if not identifiers.str[:length].duplicated().any():
            return length
    return longest
