"""The example transcripts are what the sim says today."""

from __future__ import annotations

from tests.docs.transcripts import FOLDER, SCENARIOS, transcripts

GIVEAWAYS = ("simulat", "sandbox", "breakfix:", "mock", "not implemented", "Traceback")


def test_the_transcripts_are_up_to_date() -> None:
    made = transcripts()
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.glob("*.md")}
    assert sorted(kept) == sorted(made)
    assert [name for name in made if kept[name] != made[name]] == [], "run: python -m tests.docs.transcripts"


def test_one_of_each_difficulty_and_all_verified() -> None:
    texts = [(FOLDER / f"{name}.md").read_text(encoding="utf-8") for name in SCENARIOS]
    for text, difficulty in zip(texts, ("easy", "medium", "hard", "expert"), strict=True):
        assert f", {difficulty}. " in text
        assert text.endswith("**VERIFIED**\n")
        assert not [word for word in GIVEAWAYS if word in text]
