"""A report of 100,000 episodes: how long it takes to make, how much memory, and how soon its pages open in Chromium.

The records are a real run's (four scripted agents in all worlds of the starter pack), multiplied under other attempt
numbers. The floor is reading the same bytes line by line and taking their sha256, which every report has to do.
"""

from __future__ import annotations

import hashlib
import resource
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

from reports.build import build_report
from runners.agents.registry import parse_agent
from runners.backends.sim import SimBackend
from runners.plan import plan
from runners.pool.local import LocalExecutor
from runners.records import TrialRecord
from runners.records_io import RECORDS_FILE, Line, read_records
from runners.run import run
from runners.trials import trial_id
from starter import starter

EPISODES = 100_000
AGENTS = ("gold", "bad", "nop", "random")


def play(folder: Path) -> list[TrialRecord]:
    """One attempt of each agent in each world."""
    bundle, agents = starter(), [parse_agent(name) for name in AGENTS]
    run(plan([bundle], agents, backends=("sim",)), [bundle], agents, (SimBackend(),), folder, executor=LocalExecutor())
    return list(read_records(folder))


def multiplied(records: list[TrialRecord]) -> Iterator[bytes]:
    """Lines of as many records as are wanted, each under a trial id of its own."""
    for number in range(EPISODES):
        record = records[number % len(records)]
        trial = replace(record.trial, attempt=number // len(records))
        yield Line.of(replace(record, trial=trial, trial_id=trial_id(trial))).data + b"\n"


def floor(path: Path) -> float:
    begin = time.perf_counter()
    with path.open("rb") as lines:
        for line in lines:
            hashlib.sha256(line).digest()
    return time.perf_counter() - begin


def opened(page: Path, done: str) -> float:
    """Seconds from asking for the page until the script `done` says that it shows what it is to show."""
    options = Options()
    options.binary_location = shutil.which("chromium") or ""
    for flag in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver") or ""))
    try:
        begin = time.perf_counter()
        browser.get(page.as_uri())
        WebDriverWait(browser, 30, poll_frequency=0.02).until(lambda driver: driver.execute_script(done))
        return time.perf_counter() - begin
    finally:
        browser.quit()


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        records = play(folder / "played")
        big = folder / "run"
        big.mkdir()
        with (big / RECORDS_FILE).open("wb") as stream:
            stream.writelines(multiplied(records))
        size = (big / RECORDS_FILE).stat().st_size
        least = floor(big / RECORDS_FILE)
        begin, processor = time.perf_counter(), time.process_time()
        build_report([big], folder / "report")
        took, used = time.perf_counter() - begin, time.process_time() - processor
        pages = sum(path.stat().st_size for path in (folder / "report").rglob("*") if path.is_file())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"records       {EPISODES:,} in {size / 1e6:.0f} MB; read and hashed in {least:.1f} s")
        print(f"report        {took:.1f} s ({used:.1f} s of processor time), {took / least:.0f} times the floor")
        print(f"memory        {peak:.0f} MB at most; the report has {pages / 1e6:.0f} MB")
        if shutil.which("chromium") and shutil.which("chromedriver"):
            index = opened(folder / "report" / "index.html", "return document.readyState === 'complete'")
            listed = f"return document.getElementById('told').textContent === '{EPISODES:,} episodes'"
            viewer = opened(folder / "report" / "episodes.html", listed)
            print(f"opens in      {index:.2f} s (leaderboard), {viewer:.2f} s (all episodes listed)")


if __name__ == "__main__":
    main()
