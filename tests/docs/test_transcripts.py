"""The example transcripts are what the sim says today."""

from __future__ import annotations

from tests.docs.transcripts import FOLDER, ROOT, transcripts

SCENARIOS = ROOT / "packs" / "starter" / "scenarios"
GIVEAWAYS = ("simulat", "sandbox", "breakfix:", "mock", "not implemented", "Traceback")


def test_the_transcripts_are_up_to_date() -> None:
    made = transcripts()
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert sorted(kept) == sorted(made)
    assert [name for name in made if kept[name] != made[name]] == [], "run: python -m tests.docs.transcripts"


def test_every_starter_scenario_has_one_and_is_verified() -> None:
    texts = {path.stem: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert sorted(texts) == sorted(path.stem for path in SCENARIOS.glob("*.yml"))
    for name, text in texts.items():
        assert text.endswith("**VERIFIED**\n"), name
        assert not [word for word in GIVEAWAYS if word in text], name
