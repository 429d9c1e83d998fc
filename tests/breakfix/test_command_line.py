"""The command line: exit codes, JSON, what is loaded, and the whole line on a small part of the starter pack."""

from __future__ import annotations

import json
import pickle
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from breakfix.cli.main import COMMANDS, run
from breakfix.content import shipped_packs
from compiler.bundle import write_proof
from compiler.model import Finding, Proof, ScenarioProof
from compiler.verify import read_unsigned
from runners.agents.nop import Nop
from runners.agents.protocol import AgentFailedError, AgentUnavailableError
from runners.backends.sim import SimWorld
from runners.worlds import WorldError
from scenario_dsl.errors import BreakfixError

STARTER = "starter"


@pytest.fixture(scope="module")
def signed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A signed, unproven starter bundle with its key beside it: `bundle`, `me.key`, `me.key.pub`."""
    folder = tmp_path_factory.mktemp("line")
    assert run(["compile", STARTER, "--out", str(folder / "bundle")]) == 0
    assert run(["keygen", str(folder / "me.key")]) == 0
    assert run(["sign", str(folder / "bundle"), "--key", str(folder / "me.key"), "--unproven"]) == 0
    return folder


def breakfix(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "breakfix", *arguments], capture_output=True, text=True, timeout=120, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself_with_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([command, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"breakfix {command}" in text
    assert "Examples:" in text


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; from breakfix.cli.main import run; run(['--help'])\n"
        "heavy = {'ray', 'pandas', 'matplotlib', 'numpy', 'yaml', 'jsonschema', 'pydantic', 'tree_sitter', 'runners'}\n"
        "loaded = sorted(heavy & set(sys.modules)); assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "Compile, prove, sign" in done.stdout


def test_an_unknown_command_is_a_usage_error_with_a_suggestion() -> None:
    done = breakfix("chek")
    assert done.returncode == 2
    assert "check" in done.stderr


def test_a_missing_pack_is_the_authors_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compile", "startr", "--out", "nowhere"]) == 1
    assert "did you mean `starter`?" in capsys.readouterr().err
    assert not Path("nowhere").exists()


def test_check_reports_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "pack.yml"
    broken.write_text("pack: p\nversio: 1\n")
    assert run(["check", str(broken), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {"schema-unknown-key"} <= {each["code"] for each in found}
    assert [each["line"] for each in found if each["code"] == "schema-unknown-key"] == [2]


def test_shipped_packs_have_no_mistakes() -> None:
    assert run(["check", "starter", "common"]) == 0


def test_the_schema_is_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "fault"]) == 0
    assert json.loads(capsys.readouterr().out)["$schema"].startswith("https://json-schema.org/")


def test_capabilities_say_what_is_not_here(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["capabilities", "--json"]) == 0
    backends = {row["backend"]: row for row in json.loads(capsys.readouterr().out)["backends"]}
    assert backends["sim"]["available"]
    assert not backends["container"]["available"]


@pytest.mark.parametrize("lines", ["['capabilities']", "['check', 'common', '--json']"])
def test_what_needs_no_containers_needs_no_library_for_them(lines: str) -> None:
    code = (
        "import sys; sys.modules['docker'] = None; from breakfix.cli.main import run\n"
        "import runners.backends.kernel\n"
        f"sys.exit(run({lines}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "capabilities" not in lines or "missing the library docker: pip install" in done.stdout


def test_cleaning_up_says_what_it_cannot_reach(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "docker", None)
    monkeypatch.delitem(sys.modules, "runners.hosts.engine", raising=False)
    assert run(["clean", "--json"]) == 2
    assert "containers need the library docker" in capsys.readouterr().err


def test_an_unproven_bundle_is_signed_only_on_request(
    signed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compile", STARTER, "--out", str(tmp_path / "bundle")]) == 0
    assert run(["sign", str(tmp_path / "bundle"), "--key", str(signed / "me.key")]) == 1
    assert "--unproven" in capsys.readouterr().err
    assert not (tmp_path / "bundle" / "bundle.dsse.json").exists()


@pytest.mark.parametrize("holds", [True, False, None])
def test_unproven_means_unproven_whatever_proof_lies_there(
    signed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], holds: bool | None
) -> None:
    bundle = tmp_path / "bundle"
    shutil.copytree(signed / "bundle", bundle)
    compiled = read_unsigned(bundle)
    names = sorted(path.stem for path in (shipped_packs()["starter"] / "scenarios").glob("*.yml"))
    proofs = tuple(
        ScenarioProof(
            scenario=name,
            backend="sim",
            repeats=1,
            findings=(Finding(check="gold", world="primary", passed=holds, detail="so it was"),),
        )
        for name in names
    )
    write_proof(bundle, Proof(bundle_digest=compiled.digest, scenarios=proofs))
    if holds is None:
        (bundle / "proof.json").write_text("no proof at all")
    sign = ["sign", str(bundle), "--key", str(signed / "me.key")]
    if not holds:
        assert run(sign) == 1
    assert run([*sign, "--unproven"]) == 0
    assert "proof.json" in capsys.readouterr().out
    assert not (bundle / "proof.json").exists()
    assert run(["verify", str(bundle), "--trust", str(signed / "me.key.pub"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["proven"] is False


def test_a_strangers_bundle_is_not_run(signed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["keygen", str(tmp_path / "stranger.key")]) == 0
    arguments = ["run", str(signed / "bundle"), "-a", "nop", "-o", str(tmp_path / "run"), "--executor", "local"]
    assert run([*arguments, "--trust", str(tmp_path / "stranger.key.pub")]) == 1
    assert not (tmp_path / "run").exists()


def test_the_whole_line(signed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trust = ["--trust", str(signed / "me.key.pub")]
    out = tmp_path / "run"
    arguments = ["run", str(signed / "bundle"), *trust, "-s", "process-recovery", "-a", "gold", "-a", "nop"]
    assert run([*arguments, "-o", str(out), "--executor", "local", "--quiet", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["planned"] == summary["done"] == 6
    assert summary["errored"] == 0

    # The same command again finds everything done.
    assert run([*arguments, "-o", str(out), "--executor", "local", "--quiet", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["resumed"] == 6

    # Another plan into the same folder is refused, and says what is different.
    assert run([*arguments, "-n", "2", "-o", str(out), "--executor", "local", "--quiet"]) == 1
    assert "attempts" in capsys.readouterr().err

    assert run(["report", str(out), "--out", str(tmp_path / "report"), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert Path(report["page"]).is_file()
    assert [row["agent"] for row in report["leaderboard"]["rows"]] == ["gold", "nop"]

    first = json.loads((out / "records.jsonl").read_text().splitlines()[0])["trial_id"]
    assert run(["replay", str(out), first[:12], "--bundle", str(signed / "bundle"), *trust, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["same"] is True


def test_a_script_in_a_fresh_system_ends_as_a_shell_does() -> None:
    done = breakfix("play", "--system", "web-server", "-c", "echo out; echo err >&2; exit 3")
    assert (done.returncode, done.stdout, done.stderr) == (3, "out\n", "err\n")


def test_a_world_that_fails_at_the_prompt_is_our_fault_and_says_what_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_given: object, **_named: object) -> None:
        raise WorldError("the simulated server failed: out of numbers")

    monkeypatch.setattr(SimWorld, "run", fail)
    assert run(["play", "--system", "web-server", "-c", "true"]) == 3
    told = capsys.readouterr().err
    assert "out of numbers" in told
    report = Path(told.split()[-1])
    assert "WorldError" in report.read_text()
    report.unlink()


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (AgentUnavailableError("nobody answers at 127.0.0.1:9"), 2, "= help: see that the agent can reach"),
        (AgentFailedError("I know only investigations"), 1, "error: I know only investigations"),
    ],
)
def test_an_agent_that_cannot_be_made_is_no_fault_of_ours(
    signed: Path,
    tmp_path: Path,
    error: BreakfixError,
    code: int,
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_given: object) -> None:
        raise pickle.loads(pickle.dumps(error))  # as it would come from a worker

    monkeypatch.setattr(Nop, "__call__", fail)
    arguments = ["run", str(signed / "bundle"), "--trust", str(signed / "me.key.pub"), "-a", "nop"]
    assert run([*arguments, "-o", str(tmp_path / "run"), "--executor", "local", "--quiet"]) == code
    assert told in capsys.readouterr().err


def test_who_is_asked_to_end_cleans_up_as_after_ctrl_c(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "breakfix", "prove", "starter", "-k", "9"]
    child = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stderr is not None
    child.stderr.readline()
    time.sleep(5)  # its own processes have begun to work by then
    child.terminate()
    said = child.communicate(timeout=60)[1]
    assert child.returncode == 130
    assert said.rstrip().endswith("interrupted")
    assert "Traceback" not in said
