"""daemon-reload reads again what changed, and nothing else would have been read differently."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from runners.sim.machine import Machine
from runners.sim.systemd import manager
from tests.runners.sim.servers import server


def _edited(machine: Machine, edits: list[tuple[str, str, str]]) -> None:
    view = machine.view()
    for verb, folder, name in edits:
        path = f"{folder}/{name}"
        try:
            if verb == "write":
                view.write(path, b"[Service]\nExecStart=/bin/true\n")
            elif verb == "drop in":
                if not view.exists(f"{path}.d"):
                    view.mkdir(f"{path}.d")
                view.write(f"{path}.d/more.conf", b"[Unit]\nDescription=another\n")
            elif verb == "mask":
                view.symlink("/dev/null", path)
            elif verb == "lead out":
                view.symlink("/srv/elsewhere.service", path)
            elif view.exists(f"{path}.d/more.conf"):
                view.unlink(f"{path}.d/more.conf")
            else:
                view.unlink(path)
        except OSError:
            pass


@given(
    rounds=st.lists(
        st.lists(
            st.tuples(
                st.sampled_from(("write", "drop in", "mask", "lead out", "remove")),
                st.sampled_from(("/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system")),
                st.sampled_from(("nginx.service", "redis-server.service", "postgresql.service", "new.service")),
            ),
            max_size=3,
        ),
        max_size=3,
    )
)
@settings(max_examples=30, deadline=None)
def test_reading_only_what_changed_is_reading_everything(rounds: list[list[tuple[str, str, str]]]) -> None:
    quick, thorough = server(), server()
    for edits in rounds:
        for machine in (quick, thorough):
            manager.unit_file(machine, "new.service")
            _edited(machine, edits)
        manager.daemon_reload(quick)
        thorough.systemd.picture = None
        manager.daemon_reload(thorough)
        assert quick.systemd.loaded == thorough.systemd.loaded
