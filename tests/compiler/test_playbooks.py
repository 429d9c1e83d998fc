from __future__ import annotations

import dataclasses
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from compiler.lower.playbooks import inject_tasks, playbook, revert_tasks
from compiler.lower.yaml_text import Unsafe, write
from compiler.model import Bundle
from compiler.resolve import resolve
from scenario_dsl.model import FaultUse
from tests.compiler.libraries import RECOVERY, library

ANSIBLE = Path(sys.executable).parent / "ansible-playbook"
BASE = "scenarios/process-recovery/playbooks"


class Reader(yaml.SafeLoader):
    """Reads `!unsafe` as Ansible does: text with a mark on it."""


Reader.add_constructor("!unsafe", lambda loader, node: Unsafe(loader.construct_scalar(node)))


def read(bundle: Bundle, path: str) -> list[dict[str, object]]:
    (play,) = yaml.load(bundle.files[f"{BASE}/{path}"], Loader=Reader)
    assert {key: play[key] for key in ("hosts", "gather_facts", "become")} == {
        "hosts": "all",
        "gather_facts": False,
        "become": True,
    }
    return play["tasks"]


def test_every_world_and_cascade_has_its_playbooks(bundle: Bundle) -> None:
    paths = {path.removeprefix(BASE + "/") for path in bundle.files if path.startswith(BASE)}
    cascades = {f"{world}/cascades/log-flood/" for world in ("primary", "cache")}
    folders = {"primary/", "cache/", "loud-log/"} | cascades
    assert paths == {f"{folder}{name}.yml" for folder in folders for name in ("inject", "revert")}


def test_faults_come_in_order_and_go_in_reverse(bundle: Bundle) -> None:
    names = [task["name"] for task in read(bundle, "primary/inject.yml")]
    assert names == ["postgresql dies", "look", "write it", "change the kept one"]
    assert [task["name"] for task in read(bundle, "primary/revert.yml")] == [
        "remove it",
        "mend the kept one",
        "it runs again",
    ]


def test_modules_are_fully_qualified_and_ansible_cores_own(bundle: Bundle) -> None:
    playbooks = [path.removeprefix(BASE + "/") for path in bundle.files if path.startswith(BASE)]
    words = {"name", "when", "loop", "register", "ignore_errors"}
    for path in playbooks:
        for task in read(bundle, path):
            (module,) = task.keys() - words
            assert module.startswith("ansible.builtin.")


def test_text_with_braces_is_marked_and_expressions_are_not(bundle: Bundle) -> None:
    _, _, write_it, change = read(bundle, "primary/inject.yml")
    copied = write_it["ansible.builtin.copy"]
    assert copied == {"dest": "/srv/a/{{ item }}", "content": "a {{ x }} b\n", "mode": "0640"}
    assert isinstance(copied["content"], Unsafe)
    assert not isinstance(copied["dest"], Unsafe)
    assert isinstance(change["ansible.builtin.lineinfile"]["line"], Unsafe)
    assert (write_it["loop"], change["when"]) == (["one", "two"], "kept.stat.exists")


def test_the_tasks_own_words_come_along(bundle: Bundle) -> None:
    (noise,) = read(bundle, "loud-log/inject.yml")
    assert noise["ignore_errors"] is True
    assert read(bundle, "primary/inject.yml")[1]["register"] == "kept"


@pytest.mark.parametrize(
    "text",
    ["0640", "yes", "on", "1:30", "~", "null", "", " x ", "a: b", "#", "1e3", "=", "é\n\tb\n", "a\r\nb", "x \ny"],
)
def test_text_stays_text_in_yaml(text: str) -> None:
    for wrapped in (text, Unsafe(text)):
        assert yaml.load(write({"a": [wrapped]}), Loader=Reader) == {"a": [text]}


def test_the_view_of_the_probes_is_written_as_the_language_writes_them(bundle: Bundle) -> None:
    seen = json.loads(bundle.files["scenarios/process-recovery/probes/cache.json"])
    assert seen["objectives"] == {
        "noticed": {"points": 0.2, "seen": {"output": "failed|redis-server", "command": "systemctl"}},
        "listens": {
            "points": 0.4,
            "probe": {"socket": {"port": 6379, "listening": True, "protocol": "tcp"}},
            "armed_by": "Log Flood!",
            "settle": 5,
        },
        "named": {"points": 0.4, "answer": {"question": "Which unit?", "equals": "redis-server"}},
    }
    assert seen["invariants"] == {"web stays": {"unit": {"name": "nginx", "state": "active"}}}
    assert seen["conditions"] == {"Log Flood!": {"unit": {"name": "redis-server", "state": "failed"}}}
    assert [(witness["fault"], witness.get("cascade")) for witness in seen["witnesses"]] == [
        ("crash_service", None),
        ("write_files", None),
        ("unmount", "Log Flood!"),
    ]
    assert seen["witnesses"][0]["probes"] == [{"unit": {"name": "redis-server", "state": "failed"}}]


# -- with the real ansible-playbook


def play(book: Path, *arguments: str) -> str:
    home = book.parent
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "ANSIBLE_LOCALHOST_WARNING": "False",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        [
            str(ANSIBLE),
            "-i",
            "host,",
            "-c",
            "local",
            "-e",
            f"ansible_python_interpreter={sys.executable}",
            *arguments,
            str(book),
        ],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.ansible
def test_every_playbook_is_good_ansible(bundle: Bundle, tmp_path: Path) -> None:
    for path, data in bundle.files.items():
        if path.endswith(".yml"):
            book = tmp_path / path.replace("/", "-")
            book.write_bytes(data)
            play(book, "--syntax-check")


def literally(text: str) -> str:
    """The text as an author writes it who means the braces."""
    return re.sub(r"\{[{%]", lambda match: "{{ '" + match[0] + "' }}", text)


@pytest.mark.ansible
@pytest.mark.parametrize("text", ["plain", "a {{ x }} {% raw %} {# b", "trailing {", 'quo\'te "d" \\ $HOME'])
def test_a_fault_of_files_is_really_injected_and_reverted(text: str, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "kept").write_text("a = 1\n")
    arguments = {"folder": str(target), "text": literally(text), "links": True}
    scenario = dataclasses.replace(RECOVERY, faults=(FaultUse(fault="write_files", arguments=arguments),), cascades=())
    faults = resolve(scenario, library()).worlds[0].faults
    inject, revert = tmp_path / "inject.yml", tmp_path / "revert.yml"
    inject.write_bytes(playbook("inject", inject_tasks(faults)))
    revert.write_bytes(playbook("revert", revert_tasks(faults)))
    before = {path.name: path.read_text() for path in target.iterdir()}
    # Files of our own need no other user.
    play(inject, "-e", "ansible_become=false")
    assert {path.name: path.read_text() for path in target.iterdir()} == {
        "kept": f"a = 1\nbroken = 1000 # {text}\n",
        "one": f"{text}\n",
        "two": f"{text}\n",
        "link": f"{text}\n",
    }
    assert (target / "link").is_symlink()
    assert (target / "one").stat().st_mode & 0o777 == 0o640
    play(revert, "-e", "ansible_become=false")
    assert {path.name: path.read_text() for path in target.iterdir()} == before
