"""A report on disk: the same bytes each time, whole files, hostile text, odd runs, and how long it takes."""

from __future__ import annotations

import base64
import json
import random
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
import zlib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from compiler.codec import load
from reports.build import build_report
from reports.export import as_csv, as_json
from reports.figures import figure_out
from reports.html.episodes import chunks_of
from reports.html.links import slug
from reports.reading import Kept
from reports.text import printable, shortened, spreadsheet_safe
from runners.records import AgentIdentity, TrialRecord
from runners.records_io import RecordsError
from scenario_dsl.errors import HostError
from tests.reports.synthetic_records import PLAYERS, SCENARIOS, many_scenarios, record, run_records, write_run
from tests.reports.test_report_tables import DEGENERATE

HOSTILE = (
    '<script>alert(1)</script>',
    '"><img src=x onerror=alert(1)>',
    "</style></script><svg onload=alert(1)>",
    "$\\frac{a}{b}$ {{ 7*7 }} {% raw %}",
    "\x00\x1b[31mred\u202eevil\ufffe",
    "=cmd|'/c calc'!A0",
    "#010203 id=\"x\" url(#y)",
    "x" * 600,
    "",
)  # fmt: skip


PROGRAM = """
import sys
from pathlib import Path
from reports.build import build_report
from reports.figures import figure_out
from reports.export import as_csv, as_json
build_report([Path(sys.argv[1])], Path(sys.argv[2]))
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


class Page(HTMLParser):
    """Tags, attributes and ids of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_the_same_records_give_the_same_bytes(tmp_path: Path) -> None:
    records = run_records(attempts=3)
    build_report([write_run(tmp_path / "run", records)], tmp_path / "one")
    random.Random(1).shuffle(records)
    write_run(tmp_path / "elsewhere" / "run", records)
    subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path / "elsewhere" / "run"), str(tmp_path / "two")],
        check=True,
        cwd=Path(__file__).parents[2],
        env={"PYTHONHASHSEED": "77", "TZ": "Asia/Tokyo", "LC_ALL": "C", "HOME": str(tmp_path), "MPLBACKEND": "agg"},
        timeout=60,
    )
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_what_is_written(tmp_path: Path) -> None:
    files = build_report([write_run(tmp_path / "run", run_records(attempts=2))], tmp_path / "out")
    plots = {f"plots/{name}.svg" for name in ("leaderboard", "verdicts", "commands", "cost")}
    names = ("leaderboard", "scenarios", "objectives", "consistency", "gate", "ratings", "head-to-head")
    tables = {f"tables/{name}.{kind}" for name in names for kind in ("csv", "json")}
    parts = {f"agents/{slug(player.identity.label)}.html" for player in PLAYERS}
    parts |= {f"scenarios/{slug(scenario.name)}.html" for scenario in SCENARIOS}
    data = {"data/episodes.js", "data/t00000.js"}
    pages = {"index.html", "episodes.html", "report.json"}
    assert set(contents(tmp_path / "out")) == pages | parts | data | plots | tables
    assert {str(path.relative_to(tmp_path / "out")) for path in files.plots} == plots
    assert {str(path.relative_to(tmp_path / "out")) for path in files.tables} == tables
    assert files.headline == "gold leads with 100% of its attempts verified."
    assert files.leaderboard.column("agent")[0] == "gold"
    assert not list((tmp_path / "out").rglob(".*"))


def test_every_page_loads_nothing_says_so_and_links_to_what_is_there(tmp_path: Path) -> None:
    out = tmp_path / "out"
    build_report([write_run(tmp_path / "run", run_records(attempts=2))], out)
    for path in sorted(out.rglob("*.html")):
        text = path.read_text()
        page = Page(text)
        assert not {"link", "img", "iframe", "object", "base"} & set(page.tags)
        assert not [value for name, value in page.attributes if name in ("src", "action")]
        links = [value or "" for name, value in page.attributes if name in ("href", "xlink:href")]
        for link in links:
            file = link.split("#")[0]
            assert (path.parent / file).exists(), f"{path}: {link}"
        assert "default-src 'none'" in text
        assert "@import" not in text
        assert "@font-face" not in text
        ids = [value for name, value in page.attributes if name == "id"]
        assert len(ids) == len(set(ids))
        assert page.tags.count("h1") == 1


def test_chunks_hold_every_record_as_it_was_written(tmp_path: Path) -> None:
    records = run_records(attempts=2)
    out = tmp_path / "out"
    build_report([write_run(tmp_path / "run", records)], out)
    index = unpacked(out / "data" / "episodes.js")
    (found,) = [unpacked(path) for path in (out / "data").glob("t*.js")]
    assert index["count"] == len(found) == len({each.trial_id for each in records})
    assert index["chunks"] == [0]
    length = index["idLength"]
    ids = [index["ids"][at : at + length] for at in range(0, len(index["ids"]), length)]
    assert [each["trial_id"][:length] for each in found] == ids
    last = {each.trial_id: each for each in sorted(records, key=lambda each: each.ordinal)}
    assert {each["trial_id"]: load(TrialRecord, json.dumps(each).encode()) for each in found} == last


def test_long_records_go_into_several_chunks() -> None:
    def kept(length: int) -> Kept:
        return Kept(None, 0, 0.0, Path(), 0, length, b"")  # type: ignore[arg-type]

    assert chunks_of([kept(600_000), kept(600_000), kept(3_000_000), kept(10), kept(10)]) == [0, 1, 2, 3]
    assert chunks_of([]) == []


def test_what_an_earlier_report_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    build_report([write_run(tmp_path / "run", run_records(attempts=1))], out)
    (out / "mine.txt").write_text("kept")
    build_report([write_run(tmp_path / "other", run_records(players=PLAYERS[:1], attempts=1))], out)
    (agent,) = (out / "agents").iterdir()
    assert agent.name.startswith("gold-")
    assert (out / "mine.txt").read_text() == "kept"


def unpacked(path: Path) -> Any:
    """The JSON in one of the viewer's scripts, which are a single call with two plain strings."""
    found = re.fullmatch(rb'breakfix\("([a-z0-9]+)","([A-Za-z0-9+/=]*)"\);\n', path.read_bytes())
    assert found is not None
    assert found[1].decode() == path.stem
    return json.loads(zlib.decompress(base64.b64decode(found[2])))


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    records: list[TrialRecord] = []
    for number, text in enumerate(HOSTILE):
        scenario = replace(SCENARIOS[1], name=text or "unnamed", objectives=((text or "o", 0.9),))
        facts = [("primary", "primary", "fail", text)]
        made = record(
            agent=AgentIdentity(name=text, configuration=text), scenario=scenario, facts=facts, attempt=number
        )
        trial = replace(made.trial, pack=text, pack_version=text, backend=text)
        turns = tuple(replace(turn, text=text, output=text) for turn in made.turns)
        records.append(replace(made, trial=trial, turns=turns, error=text, harms=(text,)))
    files = build_report([write_run(tmp_path / "run", records)], tmp_path / "out")
    for path in sorted((tmp_path / "out").rglob("*.html")):
        text = path.read_text(encoding="utf-8")
        page = Page(text)
        assert page.tags.count("script") == 1
        assert not {"img"} & set(page.tags)
        assert not [name for name, _ in page.attributes if name.startswith("on")]
        assert not re.search("[\x00\x1b\u202e\ufffe]", text)
    assert "{{ 7*7 }}" in "".join(Page(files.page.read_text(encoding="utf-8")).text)
    for plot in files.plots:
        ElementTree.fromstring(plot.read_text(encoding="utf-8"))
    assert "#010203" in (tmp_path / "out/plots/leaderboard.svg").read_text(encoding="utf-8")
    for path in files.tables:
        if path.suffix == ".csv":
            assert not re.search(r'(^|,)"?[=+@]', path.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_runs_have_a_page(tmp_path: Path, case: str) -> None:
    files = build_report([write_run(tmp_path / "run", DEGENERATE[case])], tmp_path / "out")
    page = Page(files.page.read_text())
    shown = " ".join(page.text[: page.text.index("The run")])
    assert not re.search(r"\b(nan|inf|None)\b", re.sub(r"(?s)\"use strict.*", "", shown))
    assert files.headline.endswith(".")
    assert len(files.plots) == (0 if case == "no records" else 4)


@pytest.mark.parametrize("case", DEGENERATE)
def test_degenerate_nights_and_baselines_have_figures(tmp_path: Path, case: str) -> None:
    run = write_run(tmp_path / "run", DEGENERATE[case])
    usual = write_run(tmp_path / "usual", run_records(players=PLAYERS[:2], attempts=1))
    for runs, baseline in (([run, usual], usual), ([usual], run)):
        for table in figure_out(runs, baseline=baseline).all():
            text = as_json(table)
            assert not re.search(r"\b(NaN|Infinity|nan|inf)\b", text + as_csv(table))
            json.loads(text)


def test_many_agents_and_scenarios_say_what_the_plots_leave_out(tmp_path: Path) -> None:
    players = [replace(PLAYERS[0], identity=AgentIdentity(name=f"agent-{n:02d}")) for n in range(34)]
    records = run_records(players=players, scenarios=many_scenarios(3), attempts=1)
    text = build_report([write_run(tmp_path / "run", records)], tmp_path / "out").page.read_text()
    assert "The first 30 of 34 agents." in text
    assert "agent-33" in text


def test_two_thousand_records_take_less_than_five_seconds(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", run_records(attempts=45))
    begin = time.process_time()
    build_report([run], tmp_path / "out")
    assert time.process_time() - begin < 5


def test_a_folder_that_cannot_be_written_is_the_hosts_fault(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", run_records(attempts=1))
    (tmp_path / "out").write_text("a file stands here")
    with pytest.raises(HostError, match="cannot write") as caught:
        build_report([run], tmp_path / "out")
    assert caught.value.remedy
    with pytest.raises(RecordsError, match="not a run folder"):
        build_report([tmp_path / "nowhere"], tmp_path / "elsewhere")


def test_texts_are_made_fit_to_be_shown() -> None:
    assert printable("a\x00b\u202ec\nd\te\ud800") == "a\\u0000b\\u202ec d e\\ud800"
    assert printable("naïve — 日本 😀") == "naïve — 日本 😀"
    assert (shortened("abcdef", 6), shortened("abcdefg", 6)) == ("abcdef", "abcde…")
    assert [spreadsheet_safe(text) for text in ("=1", "-1", "a=1", "")] == ["'=1", "'-1", "a=1", ""]
