"""Playing tasks on a bare machine: what needs no real ansible-playbook to be known."""

from __future__ import annotations

from runners.sim.machine import Job, JobResult, Machine
from runners.sim.tasks.play import MODULES, apply, play
from scenario_dsl.model import Task
from scenario_dsl.modules import MODULES as DECLARED
from scenario_dsl.values import Value, freeze
from tests.runners.sim.tasks.bare import bare_machine


def task(module: str, /, *, when: str | None = None, loop: str | tuple[Value, ...] | None = None,
         register: str | None = None, ignore_errors: bool = False, **arguments: object) -> Task:  # fmt: skip
    given = freeze(arguments)
    assert isinstance(given, dict)
    return Task(
        name=f"a {module}", module=module, arguments=given, when=when, loop=loop, register=register,
        ignore_errors=ignore_errors,
    )  # fmt: skip


def test_every_declared_module_is_there() -> None:
    assert set(MODULES) == set(DECLARED)


def test_what_the_language_does_not_declare_is_refused() -> None:
    result = apply(bare_machine(), task("copy", dest="/tmp/a", content="x", backup=True), {})
    assert result.failed
    assert result.msg.startswith("Unsupported parameters for (copy) module: backup. Supported parameters include: con")


def test_a_play_stops_at_the_first_failure() -> None:
    machine = bare_machine()
    failure = play(
        machine,
        [
            task("copy", dest="/tmp/a", content="x"),
            task("copy", dest="/none/b", content="x"),
            task("copy", dest="/tmp/c", content="x"),
        ],
    )
    assert failure is not None
    assert failure.task == "a copy"
    assert machine.view().exists("/tmp/a")
    assert not machine.view().exists("/tmp/c")


def test_ignored_errors_are_registered() -> None:
    machine = bare_machine()
    failure = play(
        machine,
        [
            task("slurp", src="/none", register="r", ignore_errors=True),
            task("copy", dest="/tmp/a", content="{{ r.failed }}", when="r is failed"),
        ],
    )
    assert failure is None
    assert machine.view().read("/tmp/a") == b"True"


def test_the_first_failed_item_is_named() -> None:
    failure = play(bare_machine(), [task("slurp", src="/etc/{{ item }}", loop=("passwd", "none"))])
    assert failure is not None
    assert "(item=none)" in failure.message


def test_output_of_the_machine_is_never_rendered() -> None:
    """Text that looks like a template stays text, and cannot reach into anything."""

    def run_job(_machine: Machine, _job: Job) -> JobResult:
        return JobResult(0, b"{{ 7 * 7 }} {{ ''.__class__ }}\n")

    machine = bare_machine(run_job)
    assert (
        play(machine, [task("shell", cmd="x", register="r"), task("copy", dest="/tmp/a", content="{{ r.stdout }}")])
        is None
    )
    assert machine.view().read("/tmp/a") == b"{{ 7 * 7 }} {{ ''.__class__ }}"


def test_templates_reach_no_python_object() -> None:
    result = apply(bare_machine(), task("copy", dest="/tmp/a", content="{{ r.__class__.__mro__ }}"), {"r": "x"})
    assert result.failed


def test_commands_run_as_root_with_a_clean_environment() -> None:
    seen: list[Job] = []

    def run_job(_machine: Machine, job: Job) -> JobResult:
        seen.append(job)
        return JobResult(3, b"out\n", b"err\n")

    result = apply(bare_machine(run_job), task("command", argv=["true", "b c"], chdir="/tmp"), {})
    assert (result.failed, result.values["rc"], result.values["stderr"]) == (True, 3, "err")
    assert (seen[0].argv, seen[0].cwd, seen[0].cred.uid) == (("true", "b c"), "/tmp", 0)
    assert dict(seen[0].environment)["HOME"] == "/root"


def test_a_full_disk_fails_the_task_and_keeps_the_file() -> None:
    machine = bare_machine()
    mount = machine.files.mounts[0]
    machine.view().write("/tmp/a", b"old\n")
    machine.files.update_mount("/", size=machine.files.usage[mount.dev].bytes)
    result = apply(machine, task("lineinfile", path="/tmp/a", line="new"), {})
    assert result.failed
    assert "No space left" in result.msg
    assert machine.view().read("/tmp/a") == b"old\n"


def test_replacing_a_file_leaves_the_old_one_to_whoever_has_it_open() -> None:
    machine = bare_machine()
    machine.view().write("/tmp/a", b"old\n")
    before = machine.view().stat("/tmp/a").number
    apply(machine, task("copy", dest="/tmp/a", content="new\n"), {})
    assert machine.view().stat("/tmp/a").number != before


def test_waiting_spends_the_machines_time_only() -> None:
    machine = bare_machine()
    start = machine.clock.now
    result = apply(machine, task("wait_for", path="/tmp/never", timeout=90), {})
    assert result.failed
    assert 90 <= machine.clock.now - start <= 91


def test_iptables_rules_come_and_go() -> None:
    machine = bare_machine()
    rule = {"chain": "INPUT", "protocol": "tcp", "destination_port": "80", "jump": "DROP", "comment": "why not"}
    tables = machine.network.tables
    assert apply(machine, task("iptables", **rule), {}).changed
    assert not apply(machine, task("iptables", **rule), {}).changed
    words = machine.network.tables["filter"]["INPUT"].rules[0].words
    assert " ".join(words) == "-p tcp -m tcp --dport 80 -m comment --comment why not -j DROP"
    assert apply(machine, task("iptables", **rule, state="absent"), {}).changed
    assert machine.network.tables == tables
    assert apply(machine, task("iptables", chain="INPUT", policy="DROP"), {}).changed
    assert not apply(machine, task("iptables", chain="INPUT", policy="DROP"), {}).changed
    assert apply(machine, task("iptables", chain="NOWHERE", jump="DROP"), {}).failed
