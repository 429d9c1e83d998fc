from __future__ import annotations

import pytest

from runners.sim.machine import Machine
from runners.sim.systemd.unitfile import byte_size, load, parse_exec, timespan
from tests.runners.sim.servers import server


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("90", 90),
        ("5min 20s", 320),
        ("1h", 3600),
        ("100ms", 0.1),
        ("infinity", float("inf")),
        ("2 weeks", 1209600),
        ("x", None),
    ],
)
def test_time_spans(text: str, seconds: float | None) -> None:
    assert timespan(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("1G", 1 << 30), ("512M", 512 << 20), ("100", 100), ("infinity", None), ("", None)]
)
def test_sizes(text: str, size: int | None) -> None:
    assert byte_size(text) == size


def test_exec_lines_keep_their_prefixes_apart() -> None:
    line = parse_exec("-/usr/bin/thing --name 'two words' %%")
    assert (line.path, line.argv, line.failure_ignored) == (
        "/usr/bin/thing",
        ("/usr/bin/thing", "--name", "two words", "%"),
        True,
    )
    assert parse_exec("@/usr/bin/dbus-daemon @dbus-daemon --system").argv == ("@dbus-daemon", "--system")


@pytest.fixture
def machine() -> Machine:
    return server()


def test_etc_goes_before_lib(machine: Machine) -> None:
    view = machine.view()
    assert load(view, "nginx.service").path == "/lib/systemd/system/nginx.service"
    view.write("/etc/systemd/system/nginx.service", b"[Service]\nExecStart=/bin/true\n")
    assert load(view, "nginx.service").path == "/etc/systemd/system/nginx.service"


def test_drop_ins_add_override_and_clear(machine: Machine) -> None:
    view = machine.view()
    unit = load(view, "redis-server.service")
    assert unit.get("Service", "Restart") == "no"
    assert unit.drop_ins == ("/etc/systemd/system/redis-server.service.d/override.conf",)
    view.write(
        "/etc/systemd/system/redis-server.service.d/20-exec.conf", b"[Service]\nExecStart=\nExecStart=/bin/false\n"
    )
    assert [line.path for line in load(view, "redis-server.service").commands("ExecStart")] == ["/bin/false"]


def test_a_link_to_dev_null_masks(machine: Machine) -> None:
    machine.view().symlink("/dev/null", "/etc/systemd/system/nginx.service")
    assert load(machine.view(), "nginx.service").load_state == "masked"


def test_templates_fill_in_their_instance(machine: Machine) -> None:
    unit = load(machine.view(), "getty@tty1.service")
    assert unit.description == "Getty on tty1"


def test_units_that_systemd_refuses(machine: Machine) -> None:
    view = machine.view()
    view.write("/etc/systemd/system/none.service", b"[Service]\nUser=root\n")
    view.write("/etc/systemd/system/two.service", b"[Service]\nExecStart=/bin/a\nExecStart=/bin/b\n")
    assert load(view, "none.service").problem == "Service has no ExecStart=, ExecStop=, or SuccessAction=. Refusing."
    assert "more than one ExecStart=" in load(view, "two.service").problem
    assert load(view, "absent.service").load_state == "not-found"
