"""The documents of the language as values: what `check` returns and the compiler takes.

Text may still hold templates (`{{ name }}`), which `realise` puts in, world by world. `at` is the route of a thing in
its document, for diagnostics that only a later stage can make.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from scenario_dsl.nodes import Document
from scenario_dsl.values import Route, Value

Kind = Literal["repair", "investigation"]
Difficulty = Literal["easy", "medium", "hard", "expert"]
Split = Literal["train", "heldout"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One typed argument: of a fault (declared in YAML), a probe type or an Ansible module (declared in Python).

    `type` is a name from `scenario_dsl.parameters.TYPES` (`string`, `integer`, `path`, `mode`, `duration`, `size`, …);
    a list of them is written `list of path`. `choices` empty means any value of the type.
    """

    name: str
    type: str
    doc: str
    required: bool = False
    default: Value = None
    choices: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """One read-only measurement with an expectation: `{http: {url: …, status: 200}}`."""

    type: str
    arguments: Mapping[str, Value]
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One Ansible task of the subset that faults may use. `when` and `loop` are Ansible's, as text or list."""

    name: str
    module: str
    arguments: Mapping[str, Value]
    when: str | None = None
    loop: tuple[Value, ...] | str | None = None
    register: str | None = None
    ignore_errors: bool = False
    delegate_to: str | None = None
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultUse:
    """A fault by name with the arguments one scenario gives it: `{crash_service: {unit: app}}`."""

    fault: str
    arguments: Mapping[str, Value]
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """How long after its condition a cascade fires. Both zero: at once."""

    commands: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """When `when` holds (and `after` that), `inject`. Once, or each time the condition becomes true anew."""

    name: str
    when: Probe
    after: Delay
    inject: tuple[FaultUse, ...]
    repeat: bool = False
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An objective met by what the agent answers. Exactly one of `equals` (white space folded) and `matches` is set."""

    question: str
    equals: str | None = None
    matches: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """An objective met by looking: some command of the agent matched `command` and its output matched `output`.

    Both are regular expressions, searched; at least `output` is set, so that merely typing a command earns nothing.
    """

    output: str
    command: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """Something worth `points`. `settle`: seconds that a probe must go on holding before the points are kept."""

    name: str
    points: float
    check: Probe | Answer | Seen
    armed_by: str | None = None
    settle: float = 0.0
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """A probe that must stay true through the episode; breaking it is harm."""

    name: str
    probe: Probe
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """A twin or a control: parameter changes over the same document.

    A control carries `instead_of_faults`, its decoy symptom; in a twin that is None.
    """

    name: str
    parameters: Mapping[str, Value]
    complaint: str | None = None
    instead_of_faults: tuple[FaultUse, ...] | None = None
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of an intervention.

    `run` is shell text. `discover` names the value that its standard output (stripped) is bound to; later steps write
    it as `{{ name }}`. `only_if` is a guard in shell: the step is left out where it does not exit 0. `undo` rolls the
    step back. `answer` hands in an answer (may hold discovered names) instead of running anything.
    """

    think: str | None = None
    run: str | None = None
    discover: str | None = None
    only_if: str | None = None
    undo: str | None = None
    answer: str | None = None
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """A cause that was considered, and what would be seen if it were the one."""

    claim: str
    predicts: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervention:
    """What somebody does about the complaint, as a document: gold, one bad habit, or what an agent hands in.

    `hypothesis` is the cause that was chosen, `predicts` what is seen if it is the one, `alternatives` the others that
    were considered; `evidence`: ids of observations that speak for it. All else is shell. `falsifier` exits 0 if the
    hypothesis is wrong; it is run before anything is changed. `invariants` exit 0 before and must after; each of
    `postconditions` exits 0 when the steps were carried out. `ordered`: the order of the steps matters.
    """

    name: str
    steps: tuple[Step, ...]
    hypothesis: str | None = None
    predicts: str | None = None
    alternatives: tuple[Hypothesis, ...] = ()
    evidence: tuple[str, ...] = ()
    falsifier: str | None = None
    invariants: tuple[str, ...] = ()
    postconditions: tuple[str, ...] = ()
    ordered: bool = False
    at: Route = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    """How an episode's rewards are shaped, in points of score. Objectives' own points count in full, unless `solved`
    stands for all of them.

    `first_diagnosis`: for the first objective met by looking; `first_look`: for the first command that only looks.
    `destructive`: for a command that would destroy the machine; it is not run, and the episode ends. None: all are run.
    """

    per_command: float = 0.0
    first_diagnosis: float = 0.0
    first_look: float = 0.0
    solved: float | None = None
    harm: float = 0.0
    destructive: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What an episode may use: commands, seconds (virtual on the sim), bytes of output kept per command."""

    commands: int = 40
    seconds: float = 1800.0
    output_bytes: int = 16384


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """`since`: seconds that the trouble has lasted when the agent comes; whoever met it has left traces meanwhile.

    `waivers`: weakened forms of gold that the graders may miss, by name, each with the author's reason.
    """

    name: str
    title: str
    kind: Kind
    difficulty: Difficulty
    split: Split
    system: str
    complaint: str
    faults: tuple[FaultUse, ...]
    objectives: tuple[Objective, ...]
    gold: Intervention
    since: float = 0.0
    bad: tuple[Intervention, ...] = ()
    tags: tuple[str, ...] = ()
    parameters: Mapping[str, Value] = field(default_factory=dict)
    cascades: tuple[Cascade, ...] = ()
    invariants: tuple[Invariant, ...] = ()
    reward: Reward = Reward()
    hints: tuple[str, ...] = ()
    limits: Limits = Limits()
    twins: tuple[Variant, ...] = ()
    controls: tuple[Variant, ...] = ()
    waivers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One named, parametrised break of a system. `witness`: probes that all hold exactly while it is in force."""

    name: str
    title: str
    doc: str
    arguments: tuple[Parameter, ...]
    inject: tuple[Task, ...]
    revert: tuple[Task, ...]
    witness: tuple[Probe, ...]
    decoy: bool = False
    example: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemFile:
    """One entry of a system's tree. `content` is text or None; `size` is the logical size in bytes, at least the
    content's (a larger one is filled by repeating the content, and costs no memory on the sim)."""

    path: str
    type: Literal["file", "directory", "link"] = "file"
    content: str | None = None
    target: str | None = None
    owner: str = "root"
    group: str = "root"
    mode: str | None = None
    size: int | None = None
    age: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """Another machine of a fleet: a system that it is, under its own name and at its own address."""

    system: str
    address: str


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """A healthy machine, described once; with `nodes` it is the first of a fleet, the one whose shell agents have.

    `settings` holds the parts only a backend reads, checked against the schema:

    hostname, memory, cpus, mounts, users, groups, units (enabled, running), clients, names, firewall, databases,
    processes, volatile (globs of paths that normal life changes).
    """

    name: str
    title: str
    files: tuple[SystemFile, ...]
    settings: Mapping[str, Value]
    healthy: tuple[Probe, ...]
    nodes: Mapping[str, Node] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """A pack's own description (`pack.yml`)."""

    name: str
    version: str
    title: str
    license: str
    canary: str
    policies: tuple[str, ...] = ()
    uses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """All checked documents of one pack and of the packs it uses: what the compiler resolves against.

    `documents`: what they were read from, by kind and name, so that every later finding has its place in them.
    """

    pack: Pack
    scenarios: Mapping[str, Scenario]
    faults: Mapping[str, Fault]
    systems: Mapping[str, System]
    documents: Mapping[tuple[str, str], Document] = field(default_factory=dict)
