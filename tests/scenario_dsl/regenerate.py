"""Write what is generated anew: `python tests/scenario_dsl/regenerate.py`.

That is the expected diagnostics of every broken document, the published schemas, the language reference and the
catalogue of faults.

Read the difference before you commit it: this writes what the program says, not what it should say.
"""

from __future__ import annotations

import os
from pathlib import Path

from scenario_dsl.catalogue import catalogue
from scenario_dsl.diagnostics import render_text
from scenario_dsl.library import check_paths, load_library
from scenario_dsl.model import Library
from scenario_dsl.reference import reference
from scenario_dsl.schema import schema_files

ROOT = Path(__file__).resolve().parents[2]
BROKEN = ROOT / "tests" / "golden" / "broken"
SCHEMAS = ROOT / "scenario_dsl" / "schemas"
REFERENCE = ROOT / "docs" / "language.md"
CATALOGUE = ROOT / "docs" / "faults.md"


def shipped_libraries() -> tuple[Library, ...]:
    """Every pack below `packs/`, those that use no other first."""
    found = [load_library(file.parent) for file in sorted((ROOT / "packs").glob("*/pack.yml"))]
    return tuple(sorted(found, key=lambda library: len(library.pack.uses)))


def broken_documents() -> tuple[str, ...]:
    """Every document with a fault, relative to the folder of all."""
    return tuple(sorted(path.relative_to(BROKEN).as_posix() for path in BROKEN.rglob("*.yml")))


def diagnosed(document: str) -> str:
    """What `check` says about one of them; the working folder must be that of all."""
    return render_text(check_paths([Path(document)]))


def main() -> None:
    SCHEMAS.mkdir(exist_ok=True)
    for name, text in schema_files().items():
        (SCHEMAS / name).write_text(text, encoding="utf-8")
    REFERENCE.write_text(reference(), encoding="utf-8")
    CATALOGUE.write_text(catalogue(shipped_libraries()), encoding="utf-8")
    os.chdir(BROKEN)
    for document in broken_documents():
        text = diagnosed(document)
        expected = Path(document).with_suffix(".expected")
        if text:
            expected.write_text(text, encoding="utf-8")
        else:
            expected.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
