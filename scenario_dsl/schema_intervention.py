"""The schema of interventions: as a scenario holds them, and as a document of their own."""

from __future__ import annotations

from scenario_dsl.schema_parts import PARAMETER_NAME, Schema, flag, many, mapping, named, text, typed


def step_schema() -> Schema:
    return mapping(
        "a step",
        {
            "think": text("the reasoning of an expert at this point"),
            "run": typed("shell", "what is typed"),
            "discover": named(PARAMETER_NAME, "the name that the command's output is bound to, for later steps"),
            "only_if": typed("shell", "a guard: the step is left out where this does not exit 0"),
            "undo": typed("shell", "what takes the step back"),
            "answer": text("an answer that is handed in, instead of a command"),
        },
        exactly_one=(("run", "answer"),),
        together={"discover": ("run",), "undo": ("run",)},
        description="one step of an intervention",
    )


def _intervention_keys() -> dict[str, Schema]:
    predicts = text("what is seen if that is the cause")
    other = mapping(
        "an alternative",
        {"hypothesis": text("another cause that was considered"), "predicts": predicts},
        required=("hypothesis",),
        description="a competing hypothesis",
    )
    return {
        "hypothesis": text("what is believed to be the cause"),
        "predicts": predicts,
        "alternatives": many(other, "competing hypotheses"),
        "evidence": many(named("^[0-9a-f]{8,64}$", "an observation", title="an id"), "ids of what speaks for it"),
        "falsifier": typed("shell", "exits 0 if the hypothesis is wrong; run before anything is changed"),
        "invariants": many(typed("shell", "exits 0 before, and must after"), "what must stay true"),
        "steps": many({"$ref": "#/$defs/step"}, "what is done, in order", at_least=1),
        "postconditions": many(typed("shell", "exits 0 once the steps are done"), "what must be true in the end"),
        "ordered": flag("the order of the steps matters, and the graders must see it"),
    }


def intervention_schema(title: str, *, hypothesis: bool) -> Schema:
    return mapping(
        title,
        _intervention_keys(),
        required=("hypothesis", "steps") if hypothesis else ("steps",),
        description="what an expert does" if hypothesis else "a repair that only looks right",
    )


def intervention_document() -> Schema:
    schema = mapping(
        "the intervention",
        {"intervention": text("its name"), **_intervention_keys()},
        required=("intervention", "hypothesis", "steps"),
        description="What an agent hands in: a repair that can be replayed where nobody has been.",
    )
    return {**schema, "$defs": {"step": step_schema()}}
