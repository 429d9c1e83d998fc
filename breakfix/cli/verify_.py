"""breakfix verify: is this bundle what somebody you trust signed? Is this report what its records say?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breakfix.cli.options import Json, TrustKey, trusted
from breakfix.cli.output import emit, say
from breakfix.reporting import planned
from breakfix.signed_reports import is_signed, signed_by
from compiler.verify import verify
from reports.checking import check_report
from reports.manifest import MANIFEST
from scenario_dsl.errors import AuthorError


def command(
    what: Annotated[
        Path, typer.Argument(help="A bundle's folder, its tar with the envelope beside it, or a report's folder.")
    ],
    trust: TrustKey = None,
    runs: Annotated[
        list[Path] | None,
        typer.Option("--run", help="A report's runs, in their order. Default: the folder above, if it is a run."),
    ] = None,
    baseline: Annotated[Path | None, typer.Option("--baseline", help="The run a report was held against.")] = None,
    as_json_document: Json = False,
) -> int:
    """Verify a signed bundle against the keys you trust, or a report against the records it was made from.

    Exit code 1 when any byte is not as it was signed or made. A report's tables are made again from its runs and
    compared; every other file is held against the digest in its manifest, and that against the signature if it has one.

    Examples:

        breakfix verify build/starter --trust me.key.pub

        breakfix verify runs/nightly/report

        breakfix verify public/week --run runs/monday --run runs/tuesday --trust me.key.pub
    """
    if (what / MANIFEST).is_file():
        return _report(what, trust, runs, baseline, as_json_document=as_json_document)
    if runs or baseline is not None:
        raise AuthorError(f"{what}: is no report, and only a report is verified against runs")
    verified = verify(what, trusted(trust))
    if as_json_document:
        emit(
            {
                "pack": verified.name,
                "version": verified.version,
                "digest": verified.digest,
                "key_id": verified.key_id,
                "proven": verified.proven,
            }
        )
    else:
        proven = "proven" if verified.proven else "UNPROVEN"
        say(f"{verified.name} {verified.version} is as signed by key {verified.key_id[:16]}, {proven}")
        say(f"digest {verified.digest}")
    return 0


def _report(
    folder: Path, trust: Path | None, runs: list[Path] | None, baseline: Path | None, *, as_json_document: bool
) -> int:
    above = folder.resolve().parent
    found = runs or ([above] if (above / "records.jsonl").is_file() else [])
    checked = check_report(folder, found, baseline=baseline, plans=[planned(run) for run in found])
    key_id = signed_by(folder, checked.manifest, trusted(trust)) if is_signed(folder) else None
    if trust is not None and key_id is None:
        raise AuthorError(f"{folder}: is not signed")
    if as_json_document:
        emit(
            {
                "digest": checked.manifest.digest,
                "runs": list(checked.manifest.runs),
                "records": checked.manifest.records,
                "bundles": [list(bundle) for bundle in checked.manifest.bundles],
                "files": checked.files,
                "tables": checked.tables,
                "key_id": key_id,
            }
        )
        return 0
    if checked.tables:
        say(f"{checked.tables} tables are what the records give; all {checked.files} files are as they were made")
    else:
        say(f"all {checked.files} files are as they were made; name the runs (--run) to make its tables again")
    say(f"signed by key {key_id[:16]}" if key_id else "not signed: the pages are only as true as who made them")
    say(f"records sha256:{checked.manifest.records}")
    say(f"digest {checked.manifest.digest}")
    return 0
