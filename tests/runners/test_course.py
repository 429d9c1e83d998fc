"""How a plan is played: what waits plays at once and no more of it, budgets stop it cleanly, earlier runs are used."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from breakfix.cli.watching import cost, duration, line
from compiler.verify import VerifiedBundle
from runners.agents.registry import parse_agent
from runners.agents.spec import AgentSpec
from runners.course import Budget, Course, retrying
from runners.plan import Plan, plan
from runners.pool.backlog import Backlog
from runners.pool.executor import Stopping
from runners.pool.local import LocalExecutor
from runners.pool.turnstile import Shut, Turnstile
from runners.record_index import INDEX_FILE
from runners.records import TrialRecord
from runners.records_io import Line, read_records
from runners.run import Progress, Summary, run
from runners.status import Row, Standing, as_data, read_status
from runners.store import RunFolderError, open_run
from runners.trials import Job, Lane, Work
from tests.runners.cases import bundle_of, investigation, repair
from tests.runners.toy import ToyBackend
from tests.runners.waiting import Meter, Slow, slow

BUNDLE = bundle_of(repair(), investigation())
NOP = parse_agent("nop")


def planned(*agents: AgentSpec, attempts: int = 2, bundle: VerifiedBundle = BUNDLE) -> Plan:
    return plan((bundle,), agents, backends=("toy",), attempts=attempts)


def play(
    folder: Path,
    *agents: AgentSpec,
    attempts: int = 2,
    course: Course | None = None,
    earlier: Sequence[Path] = (),
    bundle: VerifiedBundle = BUNDLE,
    executor: LocalExecutor | None = None,
) -> Summary:
    made = planned(*agents, attempts=attempts, bundle=bundle)
    return run(
        made,
        (bundle,),
        agents,
        (ToyBackend(),),
        folder,
        executor=executor or LocalExecutor(),
        course=course,
        earlier=earlier,
    )


def final(folder: Path) -> dict[str, TrialRecord]:
    return {record.trial_id: record for record in sorted(read_records(folder), key=lambda record: record.ordinal)}


# -- what waits


def test_what_waits_plays_at_once_and_no_more_than_is_allowed(tmp_path: Path) -> None:
    meter = Meter()
    agent = slow(ways=Slow(seconds=0.05, meter=meter))
    begun = time.monotonic()
    summary = play(tmp_path, NOP, agent, attempts=6, course=Course(in_flight={"there": 6}))
    assert summary.done == summary.planned == 72
    assert meter.most == 6
    # 36 trials of two waits of 0.05 s each: 3.6 s one after the other.
    assert time.monotonic() - begun < 2.4
    assert Counter(record.trial.agent.name for record in read_records(tmp_path)) == {"nop": 36, "slow": 36}


def test_each_lane_has_its_own_bound(tmp_path: Path) -> None:
    narrow, wide = Meter(), Meter()
    agents = (slow("a", "narrow", Slow(0.01, meter=narrow)), slow("b", "wide", Slow(0.01, meter=wide)))
    play(tmp_path, *agents, attempts=4, course=Course(in_flight={"narrow": 1, "wide": 5}))
    assert narrow.most == 1
    assert 2 <= wide.most <= 5


def test_the_records_are_the_same_however_many_play_at_once(tmp_path: Path) -> None:
    for folder, most in (("one", 1), ("many", 8)):
        play(tmp_path / folder, NOP, slow(ways=Slow(0.002)), course=Course(in_flight={"there": most}))
    one, many = final(tmp_path / "one"), final(tmp_path / "many")
    assert one == many
    assert {record.cost for record in one.values()} == {0.0, 0.5}


def test_a_backlog_gives_what_computes_in_order_and_what_waits_within_its_bound() -> None:
    agents = (NOP, slow())
    lanes = {agents[1].identity: Lane("there", 2)}
    work = Work(contents={}, factories={}, backend=ToyBackend(), lanes=lanes)
    jobs = list(planned(*agents).jobs())
    backlog = Backlog(iter(jobs), {"toy": work})
    assert backlog.computing == 12
    assert [job.trial.agent.name for job in backlog.take(12)] == ["nop"] * 12
    first, second = backlog.take_waiting(), backlog.take_waiting()
    assert first is not None
    assert second is not None
    assert backlog.take_waiting() is None
    backlog.ended(first)
    backlog.again([first])
    assert backlog.take_waiting() == first
    assert backlog.left


def test_a_turnstile_lets_everybody_through_in_the_order_they_came() -> None:
    turnstile = Turnstile()
    order: list[int] = []
    threads: list[threading.Thread] = []

    def enter(number: int) -> None:
        with turnstile.inside():
            order.append(number)

    with turnstile.inside():
        for number in range(5):
            threads.append(threading.Thread(target=enter, args=(number,)))
            threads[-1].start()
            time.sleep(0.02)
    for thread in threads:
        thread.join(5)
    assert order == [0, 1, 2, 3, 4]


def test_a_turnstile_that_is_shut_sends_everybody_away() -> None:
    turnstile, sent_away = Turnstile(), []

    def enter() -> None:
        try:
            with turnstile.inside(), turnstile.outside():
                time.sleep(0.05)
        except Shut:
            sent_away.append(1)

    threads = [threading.Thread(target=enter) for _ in range(3)]
    with turnstile.inside():
        for thread in threads:
            thread.start()
        time.sleep(0.02)
    turnstile.shut()
    turnstile.shut()
    for thread in threads:
        thread.join(5)
    assert sent_away == [1, 1, 1]
    with pytest.raises(Shut):
        turnstile.enter()


def test_what_breaks_in_a_thread_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(record: TrialRecord) -> Line:
        raise RuntimeError("no line can be made")

    monkeypatch.setattr(Line, "of", broken)
    with pytest.raises(RuntimeError, match="no line can be made"):
        play(tmp_path, slow(ways=Slow(0.001)))


# -- budgets


@pytest.mark.parametrize(
    ("budget", "said"),
    [
        (Budget(money=3.0), "money: "),
        (Budget(tokens=600), "tokens: "),
        (Budget(seconds=0.15), "wall clock: 0.15 s"),
    ],
)
def test_a_budget_that_is_used_up_stops_cleanly(tmp_path: Path, budget: Budget, said: str) -> None:
    agents = (slow(ways=Slow(0.02)),)
    course = Course(budget=budget, in_flight={"there": 2})
    summary = play(tmp_path, *agents, attempts=6, course=course)
    assert summary.stopped.startswith(said)
    assert not summary.interrupted
    assert 0 < summary.done < summary.planned
    assert summary.left == {"slow": summary.planned - summary.done}
    assert len(final(tmp_path)) == summary.done
    # What was under way is finished: a little more may be used than was allowed.
    assert summary.spent.money <= 3.0 + 2 * 0.5 or budget.money is None

    # Nothing is begun while the budget is used up; a larger one goes on from there.
    if budget.seconds is None:
        assert play(tmp_path, *agents, attempts=6, course=course).done == summary.done
    more = play(tmp_path, *agents, attempts=6, course=Course(in_flight={"there": 8}))
    assert (more.resumed, more.done, more.stopped, more.left) == (summary.done, more.planned, "", {})
    assert more.spent.money == pytest.approx(36 * 0.5)


def test_money_that_is_not_known_is_not_counted_as_none_in_records(tmp_path: Path) -> None:
    summary = play(tmp_path, slow(ways=Slow(0.001, cost=None)))
    assert summary.spent.money == 0
    assert {record.cost for record in read_records(tmp_path)} == {None}
    status = read_status(tmp_path)
    assert status.standing.total.unpriced == 12
    assert as_data(status)["cost"] is None
    assert cost(status.standing.total) == "?"


# -- retries by kind of error


def test_retries_follow_the_kind_of_error(tmp_path: Path) -> None:
    agents = (slow("away", "a", Slow(0.001, kind="agent")), slow("limited", "b", Slow(0.001, kind="rate-limit")))
    summary = play(tmp_path, *agents, attempts=1, course=Course(retries={"agent": 0, "rate-limit": 3}))
    ordinals: dict[str, set[int]] = {}
    for record in read_records(tmp_path):
        assert record.error_kind == ("agent" if record.trial.agent.name == "away" else "rate-limit")
        ordinals.setdefault(record.trial.agent.name, set()).add(record.ordinal)
    assert ordinals == {"away": {0}, "limited": {0, 1, 2, 3}}
    assert (summary.errored, summary.done) == (12, 12)
    # Every try was paid for.
    assert summary.spent.money == pytest.approx((6 + 6 * 4) * 0.5)


# -- earlier runs


def test_only_what_changed_is_played(tmp_path: Path) -> None:
    play(tmp_path / "first", NOP, slow(ways=Slow(0.001)))
    again = play(
        tmp_path / "second", NOP, slow(ways=Slow(0.001)), slow("new", ways=Slow(0.001)), earlier=[tmp_path / "first"]
    )
    assert (again.carried, again.done, again.planned) == (24, 36, 36)
    # What was paid for in another run is not paid for in this one.
    assert again.spent.money == pytest.approx(12 * 0.5)
    first, second = final(tmp_path / "first"), final(tmp_path / "second")
    for identifier, record in first.items():
        assert second[identifier] == replace(record, origin="first")
    assert {record.origin for record in second.values() if record.trial.agent.name == "new"} == {""}
    assert read_status(tmp_path / "second").standing.total.carried == 24

    other = bundle_of(repair(), replace(investigation(), title="Another one"))
    third = play(tmp_path / "third", NOP, bundle=other, earlier=[tmp_path / "second"])
    assert third.carried == 0


def test_errors_are_not_taken_over_and_going_on_takes_over_the_rest(tmp_path: Path) -> None:
    play(tmp_path / "first", slow(ways=Slow(0.001, kind="agent")), NOP, course=Course(retries=retrying(0)))
    summary = play(tmp_path / "second", slow(ways=Slow(0.001)), NOP, earlier=[tmp_path / "first"])
    assert (summary.carried, summary.errored) == (12, 0)
    again = play(tmp_path / "second", slow(ways=Slow(0.001)), NOP, earlier=[tmp_path / "first", tmp_path / "second"])
    assert (again.carried, again.resumed) == (0, 24)


# -- stopping


class Told(LocalExecutor):
    """Gets a signal after some lines."""

    def __init__(self, number: signal.Signals) -> None:
        super().__init__()
        self._number = number

    def play(self, jobs: Iterator[Job], stopping: Stopping) -> Iterator[Sequence[Line]]:
        for count, lines in enumerate(super().play(jobs, stopping)):
            yield lines
            if count == 3:
                os.kill(os.getpid(), self._number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_drains_what_waits_too(tmp_path: Path, number: signal.Signals) -> None:
    agents = (slow(ways=Slow(0.02)),)
    summary = play(tmp_path, *agents, attempts=6, course=Course(in_flight={"there": 3}), executor=Told(number))
    assert summary.interrupted
    assert summary.left == {"slow": summary.planned - summary.done}
    assert 3 < summary.done < summary.planned
    assert len(final(tmp_path)) == summary.done
    assert play(tmp_path, *agents, attempts=6).done == summary.planned
    assert Counter(record.trial_id for record in read_records(tmp_path)).most_common(1)[0][1] == 1


# -- watching


def test_a_status_says_what_there_is(tmp_path: Path) -> None:
    agents = (NOP, slow("away", "a", Slow(0.001, kind="agent")))
    play(tmp_path, *agents, attempts=1, course=Course(retries=retrying(1)))
    status = read_status(tmp_path)
    assert not status.running
    nop, away = status.standing.rows.values()
    assert (nop.agent, nop.pack, nop.planned, nop.done, nop.errored) == ("nop", "toys", 6, 6, 0)
    assert (away.planned, away.done, away.errored, away.retried, dict(away.errors)) == (6, 0, 6, 6, {"agent": 6})
    data = json.loads(json.dumps(as_data(status)))
    assert (data["planned"], data["done"], data["errors"], data["open"]) == (12, 6, {"agent": 6}, 0)
    assert data["rows"][1]["tokens"] == 12 * 100
    assert "6 agent errored" in line(status.standing, running=False)


@pytest.mark.parametrize("index", ["there", "gone", "damaged"])
def test_a_status_is_the_same_whatever_the_index_knows(tmp_path: Path, index: str) -> None:
    play(tmp_path, NOP, slow(ways=Slow(0.001)))
    known = as_data(read_status(tmp_path))
    if index == "gone":
        (tmp_path / INDEX_FILE).unlink()
    elif index == "damaged":
        (tmp_path / INDEX_FILE).write_bytes(b"nothing that could be read")
    assert {**as_data(read_status(tmp_path)), "rate": None} == {**known, "rate": None}


def test_a_status_can_be_asked_while_it_is_played(tmp_path: Path) -> None:
    seen: list[dict[str, object]] = []

    def look(progress: Progress) -> None:
        seen.append(dict(as_data(read_status(tmp_path))))

    agents = (slow(ways=Slow(0.001)),)
    run(planned(*agents), (BUNDLE,), agents, (ToyBackend(),), tmp_path, executor=LocalExecutor(), progress=look)
    assert [data["done"] for data in seen] == list(range(13))
    assert {data["running"] for data in seen} == {True}
    assert not read_status(tmp_path).running
    with open_run(tmp_path, planned(*agents)):
        assert read_status(tmp_path).running
    with pytest.raises(RunFolderError, match="not a run folder"):
        read_status(tmp_path / "none")


def test_rates_and_times_left() -> None:
    standing = Standing(planned(NOP, attempts=10))
    assert standing.rate() is None
    assert standing.eta() is None
    record = next(iter(planned(NOP).jobs()))
    for number in range(11):
        identifier = f"{number}{record.trial_id}"
        standing.add(Line(identifier, 0, "Passed", b"", "nop", "toys"), at=1000.0 + 2 * number)
    assert standing.rate() == pytest.approx(11 / 20)
    assert standing.eta() == pytest.approx((60 - 11) / (11 / 20))
    assert standing.rate(now=1040.0) == pytest.approx(11 / 40)
    said = line(standing, running=False)
    assert said == "11/60 done, 0.55/s"
    assert [duration(seconds) for seconds in (5.4, 600, 12_000)] == ["5 s", "10 min", "3 h 20 min"]
    assert cost(Row("a", "b", cost=1.5)) == "1.5000"
    assert cost(Row("a", "b", cost=1.5, unpriced=1)) == "1.5000+?"
    assert cost(Row("a", "b")) == "–"
