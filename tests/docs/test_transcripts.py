"""The example transcripts are what the sim says today."""

from __future__ import annotations

from tests.docs.transcripts import FOLDER, PACKS, ROOT, transcripts

SCENARIOS = [path for pack in PACKS for path in (ROOT / "packs" / pack / "scenarios").glob("*.yml")]
GIVEAWAYS = ("simulat", "sandbox", "breakfix:", "mock", "not implemented", "Traceback")


def test_the_transcripts_are_up_to_date() -> None:
    made = transcripts()
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert sorted(kept) == sorted(made)
    assert [name for name in made if kept[name] != made[name]] == [], "run: python -m tests.docs.transcripts"


def test_every_scenario_has_one_and_is_verified() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert sorted(texts) == sorted(path.stem for path in SCENARIOS)
    for name, text in texts.items():
        assert text.endswith("**VERIFIED**\n"), name
        assert not [word for word in GIVEAWAYS if word in text], name
