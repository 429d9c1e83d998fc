"""breakfix attempt: one repair through all ten stages, each a command of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.attempting import Opening, cite, open_again, open_first, show
from breakfix.cli.options import BackendName, Json, TrustKey
from breakfix.cli.output import emit, say
from compiler.codec import plain
from compiler.keys import load_private
from compiler.receipts import RECEIPT
from runners.attempt import desk, folder
from runners.attempt.events import Contracted, Reflected, contents
from runners.attempt.stages import MEANING, STAGES
from scenario_dsl.errors import AuthorError
from scenario_dsl.loading import load_document
from scenario_dsl.model import Hypothesis
from scenario_dsl.realise.interventions import intervention_of

_STAGES = "\n\n".join(f"{number}. **{stage}**: {MEANING[stage]}" for number, stage in enumerate(STAGES, start=1))

group = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    help=f"""Make an attempt stage by stage, as evidence and not as a claim; VERIFIED earns a signed receipt.

The stages, none of which is skipped or repeated:

{_STAGES}

Examples:

    breakfix attempt start permission-repair --out try

    breakfix attempt show try
""",
)

Folder = Annotated[Path, typer.Argument(help="The attempt's folder, as `start` made it.")]


@group.command()
def start(
    scenario: Annotated[str, typer.Argument(help="PACK/NAME, a file or a shipped one; its name with --bundle.")],
    out: Annotated[Path, typer.Option("--out", help="A new folder for the attempt.")],
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", help="A signed bundle. Default: compiled on the spot, unproven."),
    ] = None,
    trust: TrustKey = None,
    backend: BackendName = "sim",
    seed: Annotated[int, typer.Option(help="Another seed is another course of the same world.")] = 0,
    by: Annotated[str, typer.Option("--by", help="Who makes the attempt.")] = "person",
    model: Annotated[str, typer.Option("--model", help="A model that has a part in it.")] = "",
    role: Annotated[str, typer.Option("--model-helps", help="Which part the model has.")] = "",
) -> int:
    """Stage 1, observe: open the world and read the complaint."""
    folder.begin(out)
    opening = Opening.of(scenario, bundle, trust)
    attempt = open_first(opening, backend, seed=seed, agent=by, model=model, role=role)
    opening.write(out)
    folder.write(out, attempt.events, attempt.outputs)
    say(" ".join(attempt.observed.complaint.split()))
    for question in attempt.observed.questions:
        say(f"Question: {question}")
    say(f"You have {attempt.observed.limits.commands} commands. Next: breakfix attempt predict {out}")
    return 0


@group.command()
def predict(
    attempt: Folder,
    causes: Annotated[list[str], typer.Option("--if", help="A cause that would explain it; repeat it.")],
    signs: Annotated[list[str], typer.Option("--then", help="What would be seen in that case, in the same order.")],
) -> int:
    """Stage 2, predict: say before looking what might be the cause, and what would then be seen."""
    if len(causes) != len(signs):
        raise AuthorError(f"{len(causes)} causes and {len(signs)} predictions: each --if needs its --then")
    events, _ = folder.read(attempt)
    claims = [Hypothesis(claim=cause, predicts=sign) for cause, sign in zip(causes, signs, strict=True)]
    folder.write(attempt, desk.predict(events, claims))
    say(f"{len(causes)} hypotheses. Next: breakfix attempt probe {attempt} COMMAND, as often as it takes")
    return 0


@group.command()
def probe(attempt: Folder, command: Annotated[str, typer.Argument(help="One line for the shell, in quotes.")]) -> int:
    """Stage 3, inspect: run a command; what it shows is evidence. breakfix itself exits with 0 whatever it says."""
    made = open_again(attempt)
    seen = made.probe(command)
    folder.write(attempt, made.events, made.outputs)
    sys.stdout.buffer.write(made.outputs[seen.evidence.sha256])
    sys.stdout.flush()
    number = sum(event.stage == "inspect" for event in made.events)
    code = f", exit code {seen.evidence.exit_code}" if seen.evidence.exit_code else ""
    say(f"[observation {number}: {seen.evidence.id[:16]}{code}]")
    if seen.changed:
        say(f"[this changed {seen.changed[0]}: it will be judged like everything else]")
    return 0


@group.command()
def contract(
    attempt: Folder,
    document: Annotated[Path, typer.Argument(help="The intervention, YAML or JSON: `breakfix schema intervention`.")],
    cites: Annotated[
        list[int] | None, typer.Option("--cite", help="An observation's number, as evidence beside the document's own.")
    ] = None,
) -> int:
    """Stage 4, contract: bind yourself to a document, with its evidence and what would refute it."""
    events, _ = folder.read(attempt)
    intervention = cite(events, intervention_of(load_document(document, str(document))), cites or ())
    events = desk.contract(events, intervention)
    (contracted,) = contents(events, "contract", Contracted)
    folder.write(attempt, events)
    foretold = "was predicted" if contracted.foretold else "was not predicted"
    say(f"{len(contracted.intervention.evidence)} observations cited; the hypothesis {foretold}")
    say(f"Next: breakfix attempt apply {attempt}")
    return 0


@group.command()
def apply(attempt: Folder) -> int:
    """Stages 5 and 6, apply and ack: the falsifier, the steps, and what they changed."""
    made = open_again(attempt)
    applied, acknowledged = made.apply()
    folder.write(attempt, made.events, made.outputs)
    if applied.refuted:
        say("the falsifier held: the hypothesis is refuted, and nothing was done")
    for ref in applied.evidence:
        say(f"$ {ref.command}")
        sys.stdout.buffer.write(made.outputs[ref.sha256])
        sys.stdout.flush()
    for claim in applied.broken:
        say(f"does not hold: {claim}")
    for change in acknowledged.changes:
        say(f"changed: {change.what}")
    say(f"Next: breakfix attempt verify {attempt} --key YOUR.key")
    return 0


@group.command()
def verify(
    attempt: Folder,
    key: Annotated[Path, typer.Option("--key", "-k", help="Your private key: it signs the receipt.")],
    as_json_document: Json = False,
) -> int:
    """Stages 7 to 9, verify, gate and receipt. Exit code 1 for every verdict but VERIFIED."""
    private = load_private(key)
    made = open_again(attempt)
    gated = made.verify()
    envelope = made.receipt(private)
    folder.write(attempt, made.events, made.outputs, envelope)
    if as_json_document:
        emit(plain(gated))
        return 0 if gated.verdict == "VERIFIED" else 1
    for fact in gated.facts:
        say(f"{fact.check} in {fact.world}, by {fact.means}: {fact.finding}: {fact.reason}")
    for harm in gated.harms:
        say(f"harm: {harm}")
    say(f"Verdict: {gated.verdict}")
    if envelope is not None:
        say(f"The receipt is {attempt / RECEIPT}; anybody can check it: breakfix receipt verify {attempt / RECEIPT}")
    say(f'Next: breakfix attempt reflect {attempt} "what you learnt"')
    return 0 if gated.verdict == "VERIFIED" else 1


@group.command()
def reflect(attempt: Folder, text: Annotated[str, typer.Argument(help="What you learnt, in a sentence.")]) -> int:
    """Stage 10, reflect: the prediction, held against what came of it."""
    events, _ = folder.read(attempt)
    events = desk.reflect(events, text)
    (reflected,) = contents(events, "reflect", Reflected)
    folder.write(attempt, events)
    say("the prediction was borne out" if reflected.borne_out else "the prediction was not borne out")
    return 0


@group.command("show")
def show_attempt(attempt: Folder, as_json_document: Json = False) -> int:
    """Say which stages are done, what was seen, and what comes next. It opens no world."""
    events, outputs = folder.read(attempt)
    if as_json_document:
        emit({"events": [plain(event) for event in events], "outputs": sorted(outputs)})
    else:
        show(events, attempt)
    return 0
