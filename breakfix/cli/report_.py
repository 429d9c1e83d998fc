"""breakfix report: runs to a leaderboard, pages and tables, and the regressions against a baseline."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.bundles import refuse_to_spoil
from breakfix.cli.leaderboard import show_leaderboard
from breakfix.cli.options import Json, Quiet, TrustKey, trusted
from breakfix.cli.output import emit, progress, say
from breakfix.reporting import backgrounds, planned
from breakfix.signed_reports import signer
from compiler.keys import load_private
from compiler.verify import verify
from reports.build import ReportFiles, build_report
from reports.export import as_json
from reports.regressions import Change
from scenario_dsl.errors import AuthorError

REGRESSED = 4
"""The exit code of a significant regression, where that is to fail."""


def command(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; several are taken together, and one by one.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Where to write. Default: `report` in the first run.")
    ] = None,
    baseline: Annotated[
        Path | None, typer.Option("--baseline", "-b", help="An earlier run to hold this one against.")
    ] = None,
    fail_on_regression: Annotated[
        bool, typer.Option("--fail-on-regression", help="Exit with 4 when an agent got worse by more than chance.")
    ] = False,
    bundles: Annotated[
        list[Path] | None, typer.Option("--bundle", help="Signed bundles: their proofs are shown with the scenarios.")
    ] = None,
    trust: TrustKey = None,
    key: Annotated[Path | None, typer.Option("--key", help="Sign the report with this private key.")] = None,
    quiet: Quiet = False,
    as_json_document: Json = False,
) -> int:
    """Turn runs into a leaderboard, pages, plots and tables (CSV and JSON), all in one folder that needs no server.

    A run that is still going on can be reported too. The same records give the same bytes; `breakfix verify` makes the
    tables again and compares.

    Examples:

        breakfix report runs/nightly --out public/nightly

        breakfix report runs/tuesday --baseline runs/monday --fail-on-regression

        breakfix report runs/monday runs/tuesday --bundle build/starter --trust me.key.pub --key me.key --out week
    """
    if fail_on_regression and baseline is None:
        raise AuthorError("--fail-on-regression needs a --baseline to hold the run against")
    if out is not None:
        refuse_to_spoil(out)
    verified = [verify(path, trusted(trust)) for path in bundles or ()]
    with progress("report", quiet=quiet or not sys.stderr.isatty()) as advance:
        files = build_report(
            runs,
            out or runs[0] / "report",
            baseline=baseline,
            backgrounds=[each for bundle in verified for each in backgrounds(bundle)],
            plans=[planned(run) for run in runs],
            signer=None if key is None else signer(load_private(key)),
            watch=advance,
        )
    worse = [change for change in files.changes if change.call == "regression"]
    if as_json_document:
        emit(_document(files))
    else:
        _tell(files, worse, baseline)
    return REGRESSED if fail_on_regression and worse else 0


def _document(files: ReportFiles) -> dict[str, object]:
    return {
        "page": str(files.page),
        "digest": files.digest,
        "headline": files.headline,
        "missing": files.missing,
        "leaderboard": json.loads(as_json(files.leaderboard)),
        "regressions": [
            {"agent": each.agent, "scenario": each.scenario, "figure": each.figure, "call": each.call,
             "before": each.before.value, "now": each.now.value, "p": each.p, "trials": list(each.trials)}
            for each in files.changes
            if each.call != "unchanged"
        ],
    }  # fmt: skip


def _tell(files: ReportFiles, worse: Sequence[Change], baseline: Path | None) -> None:
    show_leaderboard(files.leaderboard)
    say("")
    if files.missing:
        say(f"unfinished: {files.missing} planned trials have no record yet, and are in no figure")
    if baseline is not None:
        say(f"against {baseline}: {len(worse) or 'no'} regression{'' if len(worse) == 1 else 's'}")
    for change in worse:
        before, now = change.before.value or 0.0, change.now.value or 0.0
        why = f": {change.reason}" if change.reason else ""
        say(f"  {change.agent} at {change.scenario}: {change.figure} {before:.0%} to {now:.0%}, p {change.p:.2g}{why}")
    say(files.headline)
    say(f"page: {files.page}")
