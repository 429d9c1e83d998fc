"""Write the example transcripts anew: `python -m tests.docs.transcripts`.

Every scenario of these packs as its own expert solves it: what was thought, typed and seen, from the complaint to
the verdict. The sim gives the same bytes for the same seed, so these are what anybody gets.
"""

from __future__ import annotations

from pathlib import Path

from compiler.bundle import compile_pack
from compiler.verify import verify_under_ephemeral_key
from runners.agents.interventional import InterventionAgent
from runners.agents.protocol import Action, Answer, Briefing, Observation, Run
from runners.backends.sim import SimBackend
from runners.opening import Site
from runners.prove.case import Case
from runners.records import judge
from scenario_dsl.library import load_library
from scenario_dsl.worlds import ResolvedScenario

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "transcripts"
PACKS = ("field", "starter")


class Scribe:
    """Plays as another agent does and writes down what a terminal would show, prompts included."""

    def __init__(self, agent: InterventionAgent) -> None:
        self._agent = agent
        self._typed: Action | None = None
        self._prompt = ""
        self._sections: list[tuple[str, list[str]]] = []

    def reset(self, briefing: Briefing) -> None:
        self._agent.reset(briefing)

    def act(self, observation: Observation) -> Action:
        if isinstance(self._typed, Run):
            self._show(f"{self._prompt}{self._typed.command}\n{observation.output}")
        self._prompt = observation.prompt
        self._typed = self._agent.act(observation)
        if self._typed.think:
            self._sections.append((self._thought(" ".join(self._typed.think.split())), []))
        if isinstance(self._typed, Answer):
            self._sections.append((f"The answer: **{self._typed.text}**", []))
        return self._typed

    def text(self) -> str:
        """Paragraphs of thought, each before the terminal that it led to."""
        parts: list[str] = []
        for thought, screens in self._sections:
            parts.append(thought)
            if screens:
                parts.append("```console\n" + "".join(screens) + "```")
        return "\n\n".join(parts)

    def _thought(self, text: str) -> str:
        if self._sections:
            return text
        return f"First a guess: {text}. If this succeeds, the guess is wrong."

    def _show(self, screen: str) -> None:
        if not self._sections:
            self._sections.append(("", []))
        shown = screen.replace("\r\n", "\n")
        self._sections[-1][1].append(shown if shown.endswith("\n") else f"{shown}\n")


def transcripts() -> dict[str, str]:
    """File name to Markdown."""
    backend, made = SimBackend(), {}
    for pack in PACKS:
        library = load_library(ROOT / "packs" / pack, [ROOT / "packs"])
        content = verify_under_ephemeral_key(compile_pack(library)).content
        for name, scenario in content.scenarios.items():
            made[f"{name}.md"] = _transcript(Site(content=content, scenario=scenario, backend=backend))
    return made


def _transcript(site: Site) -> str:
    scenario: ResolvedScenario = site.scenario
    primary = scenario.worlds[0]
    scribe = Scribe(InterventionAgent(scenario.gold))
    record = Case(site, repeats=1).play(primary, "gold", scribe)
    checks = ", ".join(f"{fact.check} {fact.finding}" for fact in record.facts if fact.means == "intervention")
    return (
        f"# {scenario.title}\n\n"
        f"<!-- Made by `python -m tests.docs.transcripts` from the scenario's own solution. -->\n\n"
        f"`{scenario.name}`, {scenario.difficulty}. What the one on call reads:\n\n"
        f"> {' '.join(primary.complaint.split())}\n\n"
        f"{scribe.text()}\n\n"
        f"{record.commands} commands, {record.score:g} points. The gate: {checks}. **{judge([record])}**\n"
    )


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in transcripts().items():
        (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
