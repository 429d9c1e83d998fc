"""Synthetic records, as a run would write them: deterministic, with agents whose strengths are known in advance."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from runners.records import AgentIdentity, GateFact, ObjectiveResult, Standing, Trial, TrialRecord, Turn
from runners.records_io import RECORDS_FILE, encode, seal

DIGEST = hashlib.sha256(b"starter").hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    name: str
    difficulty: str
    kind: str
    objectives: tuple[tuple[str, float], ...]
    worlds: tuple[tuple[str, str], ...]
    symptom: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Player:
    """Chances: to meet one objective, to have its repair carry over to a twin, to harm a control, to be errored."""

    identity: AgentIdentity
    meets: float
    transfers: float
    harms: float = 0.0
    errors: float = 0.0
    commands: int = 8


SCENARIOS = (
    Scenario(
        name="log-analysis",
        difficulty="easy",
        kind="investigation",
        objectives=(("first error named", 0.6), ("cause named", 0.38)),
        worlds=(("primary", "primary"), ("other vhost", "twin"), ("quiet night", "control")),
        symptom="the answer names 03:12:07, the log's first 500 is at 03:11:59",
    ),
    Scenario(
        name="process-recovery",
        difficulty="hard",
        kind="repair",
        objectives=(("noticed", 0.2), ("restarted", 0.4), ("port verified", 0.39)),
        worlds=(("primary", "primary"), ("worker database", "twin"), ("decoy", "control")),
        symptom="postgresql@15-reporting is failed, expected active",
    ),
    Scenario(
        name="cascading-database-failure",
        difficulty="expert",
        kind="repair",
        objectives=(("database up", 0.3), ("no 502s", 0.3), ("disk freed", 0.2), ("shop serves", 0.19)),
        worlds=(("primary", "primary"), ("other mount", "twin"), ("busy but healthy", "control")),
        symptom="/srv/log is 100 % full, expected at most 80 %",
    ),
)

PLAYERS = (
    Player(identity=AgentIdentity(name="gold"), meets=1.0, transfers=1.0, commands=7),
    Player(identity=AgentIdentity(name="bad"), meets=1.0, transfers=0.0, harms=0.5, commands=3),
    Player(identity=AgentIdentity(name="nop"), meets=0.0, transfers=0.0, commands=1),
    Player(identity=AgentIdentity(name="random"), meets=0.18, transfers=0.0, harms=0.12, commands=30),
    Player(
        identity=AgentIdentity(name="llm", configuration="local/small-135m temperature=0.2", trusted=False),
        meets=0.82,
        transfers=0.55,
        harms=0.06,
        errors=0.08,
        commands=14,
    ),
)


def record(
    *,
    agent: AgentIdentity,
    scenario: Scenario,
    world: str = "primary",
    attempt: int = 0,
    seed: int = 1,
    outcome: str = "Passed",
    met: Sequence[bool] | None = None,
    facts: Iterable[tuple[str, str, Standing, str]] = (),
    harms: tuple[str, ...] = (),
    commands: int = 3,
    ordinal: int = 0,
    error: str | None = None,
    digest: str = DIGEST,
    backend: str = "sim",
    proven: bool = True,
    pack: str = "starter",
) -> TrialRecord:
    """One record, with the score and turns that follow from the arguments. `met` None means: every objective."""
    role = dict(scenario.worlds)[world]
    trial = Trial(
        pack=pack,
        pack_version="1.0.0",
        bundle_digest=digest,
        proven=proven,
        scenario=scenario.name,
        difficulty=scenario.difficulty,
        kind=scenario.kind,
        split="train",
        world=world,
        role=role,
        required_worlds=scenario.worlds,
        full_score=round(sum(points for _, points in scenario.objectives), 9),
        backend=backend,
        agent=agent,
        seed=seed,
        attempt=attempt,
        max_commands=40,
        max_seconds=900.0,
        output_bytes=65536,
    )
    flags = tuple(met) if met is not None else (True,) * len(scenario.objectives)
    scored = role != "control"
    results = tuple(
        ObjectiveResult(
            name=name,
            points=points,
            met=flag,
            armed=True,
            met_at_command=min(commands, index + 1) if flag else None,
            met_at_seconds=round(1.5 * (index + 1), 3) if flag else None,
        )
        for index, ((name, points), flag) in enumerate(zip(scenario.objectives, flags, strict=True))
        if scored and outcome != "Errored"
    )
    turns = tuple(
        Turn(
            kind="run",
            text=f"systemctl status unit{n}",
            output="● unit: failed\n" * 5,
            exit_code=3,
            at=n * 1.0,
            seconds=0.02,
        )
        for n in range(commands)
    )
    fields = (pack, digest, scenario.name, world, backend, agent.label, seed, attempt)
    return TrialRecord(
        trial_id=hashlib.sha256(repr(fields).encode()).hexdigest(),
        trial=trial,
        ordinal=ordinal,
        outcome=outcome,
        score=round(sum(r.points for r in results if r.met), 9) if scored and outcome != "Errored" else None,
        commands=commands,
        seconds=round(commands * 1.25, 3),
        objectives=results,
        turns=(*turns, Turn(kind="done", text="")),
        facts=tuple(
            GateFact(check=check, world=where, means="policy", finding=finding, reason=reason)
            for check, where, finding, reason in facts
        ),
        harms=harms,
        error=error,
    )


def _gate(
    scenario: Scenario, met: Sequence[bool], *, transfers: bool, harmed: bool
) -> dict[str, list[tuple[str, str, Standing, str]]]:
    """Role of a world -> the gate facts that its record carries."""
    _, (twin, _), (control, _) = scenario.worlds
    primary: tuple[str, str, Standing, str] = (
        "primary",
        "primary",
        "pass",
        "every objective is met, and still is 5 s later",
    )
    if not all(met):
        missed = scenario.objectives[list(met).index(False)][0]
        primary = ("primary", "primary", "fail", f"“{missed}” is not met at the end")
    repeat: tuple[Standing, str] = ("fail", "/etc/fstab gained a line on the second application")
    back: tuple[Standing, str] = ("pass", "rollback restores every persistent fact")
    if transfers:
        repeat = ("pass", "a second application changes nothing")
    if scenario.kind == "investigation":
        repeat = back = ("not-applicable", "an investigation repairs nothing")
    elsewhere: tuple[Standing, str] = ("pass", "every objective is met") if transfers else ("fail", scenario.symptom)
    healthy: tuple[Standing, str] = ("pass", "nothing changed, nothing was restarted, no request was dropped")
    if harmed:
        healthy = ("harm", "nginx was restarted, 3 client requests were dropped")
    return {
        "primary": [primary, ("repeat", "primary", *repeat), ("reversibility", "primary", *back)],
        "twin": [("twin", twin, *elsewhere)],
        "control": [("control", control, *healthy)],
    }


def attempt_records(
    *, agent: AgentIdentity, scenario: Scenario, attempt: int, chances: np.random.Generator, player: Player
) -> list[TrialRecord]:
    """All worlds of one attempt, as the player's chances would have it."""
    met = [bool(chances.random() < player.meets) for _ in scenario.objectives]
    transfers = bool(chances.random() < player.transfers)
    harmed = bool(chances.random() < player.harms)
    commands = max(1, round(player.commands * (0.7 + 0.6 * chances.random())))
    gate = _gate(scenario, met, transfers=transfers, harmed=harmed)
    made: list[TrialRecord] = []
    for name, role in scenario.worlds:
        errored = bool(chances.random() < player.errors)
        shared = {"agent": agent, "scenario": scenario, "world": name, "attempt": attempt, "commands": commands}
        if errored:
            failed = record(**shared, outcome="Errored", error="endpoint answered 503 five times")
            made.append(failed)
            if chances.random() < 0.5:
                continue
        flags = met if role == "primary" else [transfers] * len(met)
        outcome = "Passed" if all(flags) else "Failed"
        facts = gate[role]
        made.append(record(**shared, outcome=outcome, met=flags, facts=facts, ordinal=int(errored)))
    return made


def run_records(
    *, players: Sequence[Player] = PLAYERS, scenarios: Sequence[Scenario] = SCENARIOS, attempts: int = 20, seed: int = 7
) -> list[TrialRecord]:
    """A whole run: players × scenarios × attempts × worlds, plus the odd retry."""
    chances = np.random.Generator(np.random.PCG64(seed))
    return [
        made
        for player in players
        for scenario in scenarios
        for attempt in range(attempts)
        for made in attempt_records(
            agent=player.identity, scenario=scenario, attempt=attempt, chances=chances, player=player
        )
    ]


def write_run(folder: Path, records: Iterable[TrialRecord]) -> Path:
    """A run folder with these records."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RECORDS_FILE).write_bytes(b"".join(seal(encode(item)) + b"\n" for item in records))
    return folder


def many_scenarios(count: int) -> tuple[Scenario, ...]:
    """That many scenarios, cycled from the three."""
    return tuple(replace(SCENARIOS[n % 3], name=f"{SCENARIOS[n % 3].name}-{n:02d}") for n in range(count))
