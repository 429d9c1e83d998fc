"""What every backend's worlds must do: one suite, and each backend passes it. What only a world whose time is virtual
can promise says so."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from compiler.capabilities import CAPABILITIES
from runners.backends.registry import find_backend
from runners.harms import lasting_changes
from runners.hosts.unsupported import ARGUMENTS, TYPES
from runners.worlds import Backend, Forkable, LiveWorld
from scenario_dsl.model import Probe
from scenario_dsl.probes import PROBES
from tests.conformance.probe_cases import CASES, NOT_THERE, QUESTIONS, ProbeCase
from tests.conformance.worlds import open_small, probe, run, task
from tests.engine import built

BACKENDS = ("sim", pytest.param("container", marks=pytest.mark.engine))
virtual = pytest.mark.parametrize("backend", ["sim"], indirect=True)
"""For what needs time that stands still, or is the same twice."""


@pytest.fixture(scope="module", params=BACKENDS)
def backend(request: pytest.FixtureRequest) -> Backend:
    if request.param == "container":
        built("small")
    return find_backend(request.param)


@pytest.fixture
def live(backend: Backend) -> Iterator[LiveWorld]:
    world = open_small(backend)
    yield world
    world.close()


# -- commands


def test_the_session_lives_on(live: LiveWorld) -> None:
    run(live, "cd /etc/nginx; colour=blue; greet() { echo hello $1; }")
    assert run(live, "pwd; echo $colour; greet you") == "/etc/nginx\nblue\nhello you\n"


def test_streams_and_status(live: LiveWorld) -> None:
    done = live.run("echo out; echo err >&2; (exit 7)", output_bytes=1000, seconds=10)
    assert (done.stdout, done.stderr, done.exit_code) == (b"out\n", b"err\n", 7)
    assert sorted(done.output.splitlines()) == [b"err", b"out"]
    assert not done.truncated
    assert not done.timed_out


@virtual
def test_streams_come_in_the_order_in_which_they_were_written(backend: Backend) -> None:
    """A real engine carries them apart, and may be late with one."""
    live = open_small(backend)
    done = live.run("echo 1; echo 2 >&2; echo 3; echo 4 >&2", output_bytes=1000, seconds=10)
    assert done.output == b"1\n2\n3\n4\n"


def test_bytes_that_are_no_text(live: LiveWorld) -> None:
    assert live.run(r"printf '\377\000\376'", output_bytes=1000, seconds=10).stdout == b"\xff\x00\xfe"


def test_long_output_keeps_head_and_tail(live: LiveWorld) -> None:
    done = live.run("seq 1 20000", output_bytes=2000, seconds=30)
    lines = done.output.decode().splitlines()
    assert done.truncated
    assert lines[0] == "1"
    assert lines[-1] == "20000"
    assert [line for line in lines if line.startswith("[... ") and line.endswith(" bytes omitted ...]")]
    assert len(done.output) < 2100


def test_a_command_that_does_not_end(live: LiveWorld) -> None:
    done = live.run("while :; do :; done", output_bytes=1000, seconds=5)
    assert done.timed_out
    assert done.exit_code == 124
    assert run(live, "echo still here") == "still here\n"


def test_waiting_is_cut_off(live: LiveWorld) -> None:
    before = live.elapsed()
    done = live.run("sleep 1000", output_bytes=1000, seconds=4)
    assert done.timed_out
    assert 3 <= live.elapsed() - before <= 20
    assert run(live, "echo still here") == "still here\n"


# -- time


def test_time_passes_by_itself(live: LiveWorld) -> None:
    before = live.elapsed()
    lines = int(run(live, "wc -l < /var/log/nginx/access.log"))
    live.wait(12)
    assert live.elapsed() - before >= 12
    assert int(run(live, "wc -l < /var/log/nginx/access.log")) > lines


# -- probes


@pytest.mark.parametrize("name", ["sim", "container"])
def test_every_argument_is_tried_or_said_to_be_lacking(name: str) -> None:
    """Each argument in a probe that holds and in one that fails, and each of its choices in one that holds: what a
    backend overlooks never fails, or never holds."""
    there = [case for case in CASES if (name, case.name) not in NOT_THERE]
    lacking = {*CAPABILITIES[name].lacks_probes}
    if name == "container":
        lacking |= TYPES.keys() - {case.holds[0].type for case in there}
    holding = [*(one for case in there for one in case.holds), *(one for one, holds in QUESTIONS if holds)]
    failing = [*(one for case in there for one in case.fails), *(one for one, holds in QUESTIONS if not holds)]
    for kind in PROBES.values():
        for parameter in () if kind.name in lacking else kind.parameters:
            asked = (kind.name, parameter.name)
            if name != "container" or asked not in ARGUMENTS:
                assert given(holding, *asked) >= set(parameter.choices), asked
                assert given(holding, *asked), asked
                assert given(failing, *asked), asked


def given(probes: list[Probe], kind: str, argument: str) -> set[str]:
    """The values that an argument has in these probes."""
    return {str(one.arguments[argument]) for one in probes if one.type == kind and argument in one.arguments}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_probe(case: ProbeCase, backend: Backend, live: LiveWorld) -> None:
    kind = case.holds[0].type
    reason = CAPABILITIES[backend.name].lacks_probes.get(kind) or NOT_THERE.get((backend.name, case.name))
    if reason is not None:
        pytest.skip(f"{kind} is unsupported: {reason}")
    if case.before:
        _do(live, case.before)
    live.wait(6)
    seen = live.observe([*case.holds, *case.fails])
    expected = [True] * len(case.holds) + [False] * len(case.fails)
    for asked, holds, observation in zip((*case.holds, *case.fails), expected, seen, strict=True):
        assert observation.holds is holds, (dict(asked.arguments), observation.detail)
        assert observation.detail
        assert "\n" not in observation.detail
    if case.change:
        _do(live, case.change)
        turned = live.observe(case.holds[:1])[0]
        assert not turned.holds, turned.detail


def _do(live: LiveWorld, command: str) -> None:
    done = live.run(command, output_bytes=10_000, seconds=60)
    assert done.exit_code == 0, done.output


@virtual
def test_probes_leave_no_trace(live: LiveWorld) -> None:
    assert isinstance(live, Forkable)
    look = "cat /var/log/nginx/access.log /var/log/syslog /var/log/auth.log; journalctl | wc -l; ps ax | wc -l"
    before = live.facts()
    # Looked at from two forks with the same chances, for time goes by while somebody types.
    seen = run(live.fork(seed=1), look)
    elapsed = live.elapsed()
    live.observe([one for case in CASES for one in case.holds])
    assert live.elapsed() == elapsed
    assert live.facts() == before
    assert run(live.fork(seed=1), look) == seen


def test_probes_trust_no_program_of_the_world(live: LiveWorld) -> None:
    """Replaced tools, aliases and a shell that lies change nothing that a probe says."""
    run(live, "systemctl stop redis-server nginx")
    lie = "#!/bin/sh\necho active\nexit 0\n"
    run(live, f"for tool in systemctl ss df ps cat curl; do printf '{lie}' > /usr/local/bin/$tool; done")
    run(live, "chmod +x /usr/local/bin/*")
    run(live, "systemctl() { echo active; }; alias ss='echo LISTEN'")
    for wanted in (
        probe("unit", name="redis-server", state="active"),
        probe("socket", port=6379, listening=True),
        probe("http", url="http://localhost/health", status=200),
        probe("process", matches="^nginx", running=True),
    ):
        assert not live.observe([wanted])[0].holds, wanted


# -- tasks


def test_tasks_apply_and_fail_with_a_message(live: LiveWorld) -> None:
    assert live.apply([task("copy", dest="/etc/motd", content="hello\n")]) is None
    assert run(live, "cat /etc/motd") == "hello\n"
    failure = live.apply([task("copy", dest="/none/motd", content="x")])
    assert failure is not None
    assert failure.task == "copy"
    assert "does not exist" in failure.message


def test_tasks_run_outside_the_agents_session(live: LiveWorld) -> None:
    run(live, "cd /srv; export SECRET=mine; echo() { printf lie; }")
    assert live.apply([task("shell", cmd='echo "$PWD $SECRET" > /tmp/out')]) is None
    assert run(live, "cat /tmp/out; pwd") == "/root \n/srv\n"


# -- facts


def test_facts_are_still_when_nothing_is_done(live: LiveWorld) -> None:
    before = live.facts()
    live.wait(15)
    after = live.facts()
    assert not lasting_changes(before, after)
    assert before.processes == after.processes
    assert after.requests_failed == before.requests_failed == 0


@pytest.mark.parametrize(
    "change",
    [
        "echo '# x' >> /etc/hosts",
        "chmod 0600 /etc/hosts",
        "chown app /etc/hosts",
        "rm /etc/nsswitch.conf",
        "mkdir /etc/new; echo x > /etc/new/file",
        "ln -sfn 2024.pem /etc/ssl/site/current.pem",
        "rm -r /srv/www",
        "iptables -F INPUT; echo x > /etc/motd",
        "iptables -I INPUT -s 203.0.113.9 -j DROP",
    ],
)
def test_what_lasts_is_noticed_and_put_back(change: str, live: LiveWorld) -> None:
    before = live.facts()
    run(live, change)
    assert lasting_changes(before, live.facts())
    assert live.restore(before) == ()
    assert not lasting_changes(before, live.facts())


def test_a_restart_is_noticed(live: LiveWorld) -> None:
    before = live.facts()
    run(live, "systemctl restart redis-server")
    after = live.facts()
    assert before.processes["redis-server.service"] != after.processes["redis-server.service"]
    assert before.processes["nginx.service"] == after.processes["nginx.service"]


def test_failed_requests_are_counted(live: LiveWorld) -> None:
    run(live, "systemctl stop nginx")
    live.wait(12)
    assert live.facts().requests_failed > 0


# -- worlds


def test_the_prompt_stands_there_before_anything_was_typed(live: LiveWorld) -> None:
    first = live.prompt()
    if not first:
        pytest.skip("this backend cannot tell the prompt")
    assert first.endswith(("# ", "$ "))
    moved = live.run("cd /srv", output_bytes=1000, seconds=5.0).prompt
    assert moved != first
    assert "/srv" in moved
    assert live.prompt() == moved


@virtual
def test_the_same_seed_gives_the_same_bytes(backend: Backend) -> None:
    commands = ["ps aux", "systemctl status nginx", "tail -n 20 /var/log/nginx/access.log", "echo $RANDOM", "date"]

    def transcript(seed: int) -> list[str]:
        world = open_small(backend, seed=seed)
        world.wait(90)
        return [run(world, command) for command in commands]

    assert transcript(3) == transcript(3)
    assert transcript(3) != transcript(4)


@virtual
def test_a_file_that_was_read_is_not_held(live: LiveWorld) -> None:
    """What a command opened is closed when it ends: removing the file then frees its space."""
    run(live, "fallocate -l 300M /var/log/large; head -c 10 /var/log/large | cat; tail -c 5 /var/log/large")
    run(live, "rm /var/log/large")
    assert live.observe([probe("disk", path="/var/log", used_percent_at_most=50)])[0].holds
