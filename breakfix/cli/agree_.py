"""breakfix agree: do two backends say the same?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from breakfix.cli.bundles import own_bundle
from breakfix.cli.options import Json, Quiet
from breakfix.cli.output import emit, progress, say
from compiler.verify import verify_under_ephemeral_key
from runners.agree.agreeing import Agreement, agree
from runners.agree.comparing import LEAST, Share, shares
from runners.backends.registry import find_backend

_SHOWN = 20
"""How many differences of one matter are shown; `--json` holds all."""


def command(
    bundle: Annotated[str, typer.Argument(help="A compiled bundle, a pack's folder, or the name of a shipped pack.")],
    scenarios: Annotated[list[str] | None, typer.Option("--scenario", "-s", help="Only these.")] = None,
    backends: Annotated[
        str, typer.Option("--backends", metavar="ONE,OTHER", help="Which two are compared.")
    ] = "sim,container",
    quiet: Quiet = False,
    as_json_document: Json = False,
) -> int:
    """Play the same in two backends, and count where they differ.

    In every world of every scenario that both can play: nobody and gold, and in the primary each bad habit, with what
    all its probes say before and after, and how each command ended. In each system: the exit codes of some 190 commands
    of somebody who looks around, and whether what they print is of the same structure. Exit code 1 where a share is
    smaller than it must be (probes agree always, exit codes on 95 %, structures on 80 %), and where a world failed.

    Examples:

        breakfix agree packs/starter

        breakfix agree starter -s permission-repair --json
    """
    one, _, other = backends.partition(",")
    both = (find_backend(one.strip()), find_backend(other.strip()))
    content = verify_under_ephemeral_key(own_bundle(bundle)).content
    total, done = len(scenarios or content.scenarios), 0
    with progress("compared", quiet=quiet) as advance:

        def report(name: str) -> None:
            nonlocal done
            advance(done, total, name)
            done += 1

        found = agree(content, both, scenarios=scenarios or (), progress=report)
    counted = shares(found.compared)
    if as_json_document:
        emit(as_document(found, counted, (one.strip(), other.strip())))
    else:
        for line in lines(found, counted):
            say(line)
    return 0 if counted and not found.failed and all(share.holds for share in counted) else 1


def as_document(found: Agreement, counted: tuple[Share, ...], backends: tuple[str, str]) -> dict[str, object]:
    """All of it as plain data; of what agrees only the numbers."""
    return {
        "backends": list(backends),
        "scenarios": list(found.scenarios),
        "skipped": dict(found.skipped),
        "failed": dict(found.failed),
        "shares": [
            {
                "matter": each.matter,
                "agree": each.agree,
                "of": each.of,
                "least": LEAST[each.matter],
                "holds": each.holds,
            }
            for each in counted
        ],
        "differences": [
            {
                "matter": one.matter,
                "where": one.where,
                "subject": one.subject,
                backends[0]: one.here,
                backends[1]: one.there,
            }
            for one in found.compared
            if not one.agrees
        ],
    }


def lines(found: Agreement, counted: tuple[Share, ...]) -> Iterator[str]:
    """What differs, and then the shares."""
    for share in counted:
        differing = [one for one in found.compared if one.matter == share.matter and not one.agrees]
        for one in differing[:_SHOWN]:
            yield f"{one.matter} differs ({one.where}): {one.subject}"
            yield f"  {one.here or 'nothing'}"
            yield f"  {one.there or 'nothing'}"
        if len(differing) > _SHOWN:
            yield f"  and {len(differing) - _SHOWN} more, see --json"
    for name, reason in found.skipped.items():
        yield f"not compared: {name}: {reason}"
    for name, reason in found.failed.items():
        yield f"NOT COMPARED, a world failed: {name}: {reason}"
    for share in counted:
        verdict = "enough" if share.holds else f"TOO FEW, at least {LEAST[share.matter]:.0%} must"
        yield f"{share.matter}: {share.agree} of {share.of} agree ({share.agree / share.of:.1%}): {verdict}"
