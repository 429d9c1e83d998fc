"""The door: packs, single files, and whatever a file system can put in the way."""

from __future__ import annotations

import compileall
import os
import pickle
import shutil
import tempfile
import time
from pathlib import Path

import pytest

from scenario_dsl.diagnostics import Diagnostics, errors_in, render_text
from scenario_dsl.library import check_paths, load_library
from scenario_dsl.model import Answer, Delay, Limits, Parameter, Probe, Reward, Seen
from scenario_dsl.source import MAX_BYTES

PACK = Path(__file__).parent / "pack"
NOBODY = 65534


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    return Path(shutil.copytree(PACK, tmp_path / "small"))


def codes(*paths: Path) -> list[str]:
    return [each.code for each in check_paths(paths)]


def test_a_good_pack_becomes_a_library() -> None:
    library = load_library(PACK)
    assert library.pack.name == "small"
    assert library.pack.policies == ("graded-submission",)
    assert list(library.scenarios) == ["stopped", "unreadable", "when"]
    assert list(library.faults) == ["close_file", "old_noise", "stop_service"]
    assert list(library.systems) == ["small"]


def test_a_scenario_is_built_with_everything_it_says() -> None:
    scenario = load_library(PACK).scenarios["stopped"]
    assert scenario.kind == "repair"
    assert scenario.limits == Limits(commands=20, seconds=600.0, output_bytes=16384)
    assert scenario.since == 90.0
    assert scenario.reward == Reward(per_command=-0.01, first_diagnosis=0.05, harm=-0.5)
    first, second = scenario.cascades
    assert (first.after, second.after) == (Delay(commands=2), Delay(seconds=30.0))
    assert second.repeat
    looked, runs, listens = scenario.objectives
    assert looked.check == Seen(output="inactive|dead", command="systemctl|journalctl")
    assert (runs.settle, listens.armed_by) == (5.0, "its configuration closes")
    assert listens.check == Probe(
        type="socket",
        arguments={"port": "{{ port }}", "listening": True},
        at=("objectives", "listens", "probe", "socket"),
    )
    (twin,) = scenario.twins
    (control,) = scenario.controls
    assert (twin.name, twin.parameters, twin.instead_of_faults) == ("front", {"unit": "nginx", "port": 80}, None)
    assert control.instead_of_faults is not None
    assert control.complaint == "Somebody saw an error page yesterday."
    assert [step.discover for step in scenario.gold.steps] == ["stopped", None, None]
    assert scenario.gold.steps[2].run == "ss -tln # is it there?\ncurl -s -H 'Accept: */*' http://localhost/"
    assert [habit.name for habit in scenario.bad] == ["the known name", "everything"]
    answer = load_library(PACK).scenarios["when"].objectives[0].check
    assert answer == Answer(question="When was the first error?", equals="{{ first }}")


def test_a_fault_is_built_with_everything_it_says() -> None:
    fault = load_library(PACK).faults["close_file"]
    assert fault.arguments[2] == Parameter(name="keep", type="size", doc="how much of it is kept", default="1KiB")
    assert [task.module for task in fault.inject] == ["stat", "file", "shell"]
    assert fault.inject[1].when == "before.stat.exists"
    assert fault.revert[0].loop == ("0640", "0644")
    assert load_library(PACK).faults["old_noise"].decoy


def test_a_system_has_its_tree_and_plain_settings() -> None:
    system = load_library(PACK).systems["small"]
    by_path = {file.path: file for file in system.files}
    assert list(by_path) == sorted(by_path)
    assert by_path["/etc/app/app.conf"].content == "listen = 8080\n"
    assert (by_path["/etc/app/app.conf"].owner, by_path["/etc/app/app.conf"].mode) == ("app", "0640")
    assert by_path["/etc/systemd/system/app.service"].owner == "root"
    assert by_path["/var/log/syslog"].size == 2_000_000
    assert by_path["/etc/localtime"].target == "/usr/share/zoneinfo/Etc/UTC"
    assert system.settings["memory"] == {"total": 8 * 2**30, "swap": 2**30}
    assert system.settings["uptime"] == 12 * 86400
    assert "files" not in system.settings


def test_diagnostics_are_an_author_error_that_pickles(pack: Path) -> None:
    (pack / "pack.yml").write_text("pack: small\n")
    with pytest.raises(Diagnostics) as caught:
        load_library(pack)
    assert caught.value.exit_code == 1
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) == render_text(caught.value.found)


def test_warnings_do_not_stop_a_library(pack: Path) -> None:
    scenario = pack / "scenarios" / "when.yml"
    scenario.write_text(scenario.read_text().replace("parameters:", "parameters:\n  spare: 1", 1))
    assert codes(pack) == ["parameter-unused"]
    assert load_library(pack).scenarios["when"].parameters["spare"] == 1


def test_used_packs_are_found_beside_and_on_the_search_path(tmp_path: Path, pack: Path) -> None:
    user = tmp_path / "user"
    (user / "scenarios").mkdir(parents=True)
    text = "pack: user\nversion: 1.0.0\ntitle: t\nlicense: MIT\ncanary: c\nuses: [small]\n"
    (user / "pack.yml").write_text(text)
    shutil.copy(pack / "scenarios" / "stopped.yml", user / "scenarios")
    assert codes(user) == []
    assert list(load_library(user).faults) == ["close_file", "old_noise", "stop_service"]
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    pack.rename(elsewhere / "small")
    assert codes(user) == ["unknown-pack"]
    assert check_paths([user], search=[elsewhere]) == ()
    assert list(load_library(user, search=[elsewhere]).systems) == ["small"]


def test_errors_of_a_used_pack_are_told(tmp_path: Path, pack: Path) -> None:
    user = tmp_path / "user"
    user.mkdir()
    (user / "pack.yml").write_text("pack: user\nversion: 1.0.0\ntitle: t\nlicense: MIT\ncanary: c\nuses: [small]\n")
    (pack / "faults" / "old_noise.yml").write_text("fault: old_noise\n")
    assert "schema-missing-key" in codes(user)
    with pytest.raises(Diagnostics, match=r"old_noise\.yml"):
        load_library(user)


def test_a_broken_fault_is_reported_once_and_not_again_by_its_users(pack: Path) -> None:
    (pack / "faults" / "stop_service.yml").write_text("fault: stop_service\n")
    assert {Path(each.source.path).name for each in check_paths([pack])} == {"stop_service.yml"}
    assert codes(pack / "scenarios" / "stopped.yml") == []


def test_a_scenario_alone_is_judged_by_what_it_says_alone(tmp_path: Path, pack: Path) -> None:
    alone = Path(shutil.copy(pack / "scenarios" / "stopped.yml", tmp_path / "alone.yml"))
    assert codes(alone) == []
    alone.write_text(alone.read_text().replace("points: 0.5", "points: 0.8"))
    assert codes(alone) == ["points-above-one"]


def test_a_folder_of_packs_and_documents(tmp_path: Path, pack: Path) -> None:
    (tmp_path / "loose.yml").write_text("fault: loose\n")
    (pack / "scenarios" / "when.yml").unlink()
    assert codes(tmp_path) == ["schema-missing-key", "policy-too-few-scenarios"]


def test_paths_are_shown_as_they_were_given(pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (pack / "scenarios" / "when.yml").write_text("")
    monkeypatch.chdir(pack)
    assert check_paths([Path("scenarios/when.yml")])[0].source.path == "scenarios/when.yml"
    assert check_paths([Path(".")])[0].source.path == "scenarios/when.yml"
    assert check_paths([pack])[0].source.path == str(pack / "scenarios" / "when.yml")


def test_what_is_no_readable_file_is_diagnosed(tmp_path: Path, pack: Path) -> None:
    assert codes(tmp_path / "missing.yml") == ["file-missing"]
    assert codes(tmp_path / "missing" / "pack.yml") == ["file-missing"]
    assert codes(Path("a\0b.yml")) == ["file-missing"]
    assert codes(tmp_path / ("x" * 5000)) == ["file-missing"]
    os.symlink("loop.yml", tmp_path / "loop.yml")
    assert codes(tmp_path / "loop.yml") == ["file-loop"]
    os.symlink(tmp_path / "gone", tmp_path / "dangling.yml")
    assert codes(tmp_path / "dangling.yml") == ["file-missing"]
    os.mkfifo(tmp_path / "pipe.yml")
    assert codes(tmp_path / "pipe.yml") == ["file-special"]
    assert codes(Path("/dev/null")) == ["file-special"]
    (tmp_path / "empty").mkdir()
    assert codes(tmp_path / "empty") == ["folder-without-pack"]
    (tmp_path / "huge.yml").write_bytes(b"a" * (MAX_BYTES + 1))
    assert codes(tmp_path / "huge.yml") == ["file-huge"]
    (pack / "scenarios" / "folder.yml").mkdir()
    os.symlink(pack, pack / "scenarios" / "itself.yml")
    os.mkfifo(pack / "faults" / "pipe.yml")
    assert codes(pack) == ["file-special", "file-is-directory", "file-is-directory"]


def test_a_folder_that_leads_back_to_itself_ends(tmp_path: Path) -> None:
    for name in ("a.yml", "b.yml", "c"):
        os.symlink(tmp_path, tmp_path / name)
    assert codes(tmp_path) == ["file-is-directory", "file-is-directory"]


def test_what_may_not_be_read_is_diagnosed() -> None:
    # A folder that anybody may pass, and somebody whom the file refuses: root itself may read everything.
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        secret = Path(folder) / "secret.yml"
        secret.write_text("pack: x\n")
        secret.chmod(0)
        root = os.geteuid() == 0
        if root:
            os.seteuid(NOBODY)
        try:
            assert codes(secret) == ["file-denied"]
        finally:
            if root:
                os.seteuid(0)


def test_denied_files_are_diagnosed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where tests run as root, to whom nothing is denied."""
    secret = tmp_path / "secret.yml"
    secret.write_text("pack: x\n")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", denied)
    found = check_paths([secret])
    monkeypatch.undo()
    assert [each.code for each in found] == ["file-denied"]


def test_odd_files_of_a_system_are_diagnosed(pack: Path) -> None:
    tree = pack / "systems" / "small" / "files"
    (tree / "binary").write_bytes(b"\xff\xfe")
    os.mkfifo(tree / "pipe")
    os.symlink("../etc", tree / "link")
    found = check_paths([pack])
    assert [each.code for each in found] == ["system-file", "system-file"]
    assert [each.message for each in found] == [
        "the file `/binary` of this system cannot be taken: it is not UTF-8",
        "the file `/pipe` of this system cannot be taken: special",
    ]
    (tree / "binary").unlink()
    (tree / "pipe").unlink()
    links = [file for file in load_library(pack).systems["small"].files if file.type == "link"]
    assert [(link.path, link.target) for link in links][-1] == ("/link", "../etc")


def test_what_an_installer_compiles_is_no_part_of_a_system(pack: Path) -> None:
    program = pack / "systems" / "small" / "files" / "opt" / "tool.py"
    program.parent.mkdir()
    program.write_text("print('here')\n")
    before = load_library(pack).systems["small"].files
    compileall.compile_dir(program.parent, quiet=1)
    assert list(program.parent.glob("__pycache__/*.pyc"))
    assert not check_paths([pack])
    assert load_library(pack).systems["small"].files == before


def test_what_is_installed_is_listed_line_by_line(pack: Path) -> None:
    listing = pack / "systems" / "small" / "installed.txt"
    listing.write_text("/usr/lib/systemd/\n2000 /usr/lib/libc.so.6\n/usr/lib/libc.so -> libc.so.6\n")
    assert not check_paths([pack])
    assert load_library(pack).systems["small"].settings["installed"] == listing.read_text()
    for wrong in ("usr/lib/", "12 ", "/a -> ", "many /usr/lib/a", "12 /a//b", ""):
        listing.write_text(f"/usr/\n{wrong}\n")
        assert [each.message for each in check_paths([pack])] == [
            "the file `installed.txt:2` of this system cannot be taken: "
            "it is none of `SIZE /PATH`, `/PATH -> TARGET` and `/PATH/`"
        ], wrong
    listing.write_bytes(b"\xff\n")
    assert "it is not UTF-8" in check_paths([pack])[0].message


def test_twelve_scenarios_are_checked_in_time(pack: Path) -> None:
    text = (pack / "scenarios" / "stopped.yml").read_text()
    for number in range(12):
        (pack / "scenarios" / f"copy-{number}.yml").write_text(
            text.replace("scenario: stopped", f"scenario: copy-{number}")
        )
    began = time.perf_counter()
    assert not errors_in(check_paths([pack]))
    assert time.perf_counter() - began < 1.5
