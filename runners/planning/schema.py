"""The JSON Schema (2020-12) of a plan document."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import get_args

from runners.course import KINDS, USUAL_IN_FLIGHT, USUAL_RETRIES
from scenario_dsl.model import Split
from scenario_dsl.parameters import TYPE_KEYWORD, TYPES
from scenario_dsl.schema_parts import (
    SCENARIO_NAME,
    Schema,
    choice,
    flag,
    free_mapping,
    many,
    mapping,
    named,
    number,
    text,
    whole,
)

_VARIABLE = "^[A-Za-z_][A-Za-z0-9_]*$"
_ENDPOINT = "^[A-Za-z0-9_-]+$"


def _typed(name: str, description: str) -> Schema:
    """A value of an argument type. Plans have no templates."""
    kind = TYPES[name]
    return {**kind.schema, "title": kind.article, TYPE_KEYWORD: name, "description": description}


def _variable(description: str) -> Schema:
    return named(_VARIABLE, description, title="a name of an environment variable")


_PACK = mapping(
    "a pack",
    {
        "path": text("the signed bundle: a folder, or a tar with its envelope; relative to this document"),
        "digest": named("^[0-9a-f]{12,64}$", "its digest, or the beginning; another one is refused", title="a digest"),
    },
    required=("path",),
)
_PRICE = mapping(
    "`price`",
    {
        "input": number("for a million tokens that the model reads", minimum=0),
        "output": number("for a million tokens that it writes", minimum=0),
    },
    required=("input", "output"),
    description="what the model costs; without it the cost is unknown",
)
_AGENT = mapping(
    "an agent",
    {
        "agent": text("what it is, as on the command line; the name above where it is left out"),
        "training": flag("it learns from what it plays: heldout scenarios are refused"),
        "hints": flag("it is shown the scenarios' hints"),
        "protocol": choice(("text", "tools"), "how a model says what it does"),
        "temperature": number("a model's temperature; the endpoint's own otherwise", minimum=0),
        "top_p": number("a model's top_p; the endpoint's own otherwise", minimum=0, maximum=1),
        "seed": flag("send the trial's own seed to the model"),
        "max_tokens": whole("the longest answer of a model", minimum=16),
        "context_tokens": whole("how much of the conversation a model is shown", minimum=1024),
        "malformed": whole("answers in a row that are no action before a model has failed", minimum=1),
        "deadline": _typed("duration", "real time that all answers of an episode may take together"),
        "patience": _typed("duration", "real time that one answer, or one request to an endpoint, may take"),
        "resend": whole("how often a request is sent again after an error of the endpoint"),
        "price": _PRICE,
        "env": many(_variable("a variable"), "environment variables that a program is given, by name"),
        "waits": flag("a class of yours that mostly waits: many of them play at once"),
    },
    description="who plays",
)
_KIND = {
    "world": "the backend's",
    "agent": "that of what the agent stands on, such as an endpoint",
    "rate-limit": "an endpoint took no more requests",
    "worker": "a worker process died",
    "internal": "a fault of breakfix",
}
_LIST_OF_SPLITS = many(choice(get_args(Split), "a split"), "only scenarios of these splits", at_least=1)


@cache
def plan_schema() -> Mapping[str, object]:
    """The published schema of a plan document."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://breakfix.example/schemas/plan.schema.json",
        **mapping(
            "the plan",
            {
                "plan": named(SCENARIO_NAME, "the plan's name"),
                "title": text("one line that says what it is for"),
                "packs": many(_PACK, "signed bundles, all of which are played", at_least=1),
                "agents": free_mapping(
                    "`agents`", _AGENT, "who plays, each under the name that tables show", at_least=1
                ),
                "endpoints": free_mapping(
                    "`endpoints`",
                    mapping(
                        "an endpoint",
                        {
                            "url": _typed("url", "its address, up to and with `/v1`"),
                            "key_from": _variable("the environment variable that holds its key"),
                            "concurrency": whole(
                                f"episodes that wait for it at once; {USUAL_IN_FLIGHT} otherwise",
                                minimum=1,
                                maximum=1024,
                            ),
                        },
                    ),
                    "where models answer, by the provider's name in `llm:PROVIDER/MODEL`",
                    names=_ENDPOINT,
                ),
                "programs": mapping(
                    "`programs`",
                    {
                        "concurrency": whole(
                            f"how many play at once; {USUAL_IN_FLIGHT} otherwise", minimum=1, maximum=1024
                        )
                    },
                    description="agents of yours that wait: programs, and classes that say so",
                ),
                "scenarios": many(named(SCENARIO_NAME, "a scenario"), "only these scenarios", at_least=1),
                "splits": _LIST_OF_SPLITS,
                "worlds": many(text("a role or a name"), "only these worlds, by role or name", at_least=1),
                "attempts": whole("attempts of each agent in each world; 1 otherwise", minimum=1, maximum=100_000),
                "seeds": many(whole("a seed", maximum=2**53 - 1), "each repeats all of it; 0 otherwise", at_least=1),
                "limits": mapping(
                    "`limits`",
                    {
                        "commands": whole("commands of an episode", minimum=1, maximum=100_000),
                        "seconds": _typed("duration", "the world's time of an episode"),
                        "output_bytes": whole("bytes of output kept per command", minimum=1, maximum=1 << 24),
                    },
                    description="instead of the scenarios' own limits",
                ),
                "backends": free_mapping(
                    "`backends`",
                    mapping(
                        "a backend",
                        {
                            "concurrency": whole(
                                "worlds of it that are played at once; every core or place otherwise", minimum=1
                            )
                        },
                    ),
                    "what worlds are made of, by the backend's name: everything is played on each; `sim` otherwise",
                    names=_ENDPOINT,
                    at_least=1,
                ),
                "budget": mapping(
                    "`budget`",
                    {
                        "money": number("what the run may cost; needs the price of every model", minimum=0),
                        "tokens": whole("tokens that it may use, read and written", minimum=1),
                        "wall": _typed("duration", "the wall clock's time after which nothing new is begun"),
                    },
                    description="what is used before nothing new is begun; the same command goes on later",
                ),
                "retries": mapping(
                    "`retries`",
                    {kind: whole(f"{_KIND[kind]}; {USUAL_RETRIES} otherwise", maximum=100) for kind in KINDS},
                    description="how often an Errored trial is played again, by whose trouble it was",
                ),
                "baseline": text("an earlier run folder to compare with, relative to this document"),
            },
            required=("plan", "packs", "agents"),
            description="What a run plays, and how.",
        ),
    }
