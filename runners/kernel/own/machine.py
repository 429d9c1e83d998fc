"""A host of somebody's, as worlds stand on it: looked at, set up, and left as it was.

What a boot is to a virtual machine, setting up is to it. What a killed process set up is known by a marker, and taken
away when the next one starts, or by `breakfix clean`; the default scheduler is back before, for it goes with the
connection.
"""

from __future__ import annotations

import json
import subprocess
import tarfile
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from runners.here.cache import cache_folder
from runners.here.owning import is_alive, owner
from runners.here.programs import ansible
from runners.kernel.image import Image
from runners.kernel.own.inventory import Place, read_inventory
from runners.kernel.own.look import PATHS
from scenario_dsl.errors import AuthorError, HostError

_HERE = Path(__file__).parent
_LOOK_SECONDS = 120
_PLAY_SECONDS = 900
_REMOTE = "/run/breakfix-ansible"
_FAILURES = ("runner_on_failed", "runner_on_unreachable", "runner_item_on_failed")
_USERS = tuple(
    {"name": name, "shell": shell, "home": home, "has_home": home.startswith("/home")}
    for name, shell, home in (
        ("operator", "/bin/bash", "/home/operator"),
        ("service", "/usr/sbin/nologin", "/nonexistent"),
        ("batch", "/usr/sbin/nologin", "/nonexistent"),
    )
)


def look(place: Place) -> dict[str, Any]:
    """What the host says of itself: `kernel`, and `missing`: (what, remedy). Raises HostError: it is not reached."""
    call = [*place.ssh, "/usr/bin/python3", "-ISE", "-"]
    try:
        with (_HERE / "look.py").open("rb") as script:
            done = subprocess.run(
                call, stdin=script, capture_output=True, text=True, timeout=_LOOK_SECONDS, check=False
            )
        said: dict[str, Any] = json.loads(done.stdout)
        return said
    except subprocess.TimeoutExpired:
        why = f"it said nothing for {_LOOK_SECONDS} s"
    except FileNotFoundError:
        raise HostError("ssh is not installed", remedy="apt-get install openssh-client") from None
    except ValueError:
        why = (done.stderr.strip().splitlines() or ["nothing was said"])[-1]
    raise HostError(
        f"{place.name} cannot be asked: {why}",
        remedy=f"`{' '.join(call[:-3])} /usr/bin/python3 -V` has to work without a question",
    )


def refuse_unless_fit(place: Place) -> str:
    """Returns the host's kernel. Raises HostError with everything that is missing, each by its name."""
    said = look(place)
    if not said["missing"]:
        return str(said["kernel"])
    names = ", ".join(name for name, _ in said["missing"])
    remedy = "; ".join(dict.fromkeys(remedy for _, remedy in said["missing"]))
    raise HostError(f"{place.name} cannot be used, it lacks: {names}", remedy=remedy)


class OwnMachine:
    """Set up from the moment it is made. Raises HostError where the host is not fit, or setting it up fails."""

    def __init__(self, place: Place, image: Image, *, closed: Callable[[], None]) -> None:
        """image: where the programs come from. closed: called once, when the host is as it was."""
        self._place, self._closed, self._open = place, closed, True
        self._marker = _markers() / f"{place.name}.json"
        try:
            if self._marker.exists():
                raise HostError(
                    f"{place.name} is in use by another process, or an interrupted one left it",
                    remedy="wait for it, or: breakfix clean",
                )
            refuse_unless_fit(place)
            document = {"owner": owner(), "inventory": str(place.inventory), "host": place.name}
            self._marker.write_text(json.dumps(document))
        except BaseException:
            closed()
            raise
        try:
            with _packed(image.programs) as archive:
                _play(place, "set_up", archive=str(archive), users=_USERS)
        except BaseException:
            self.close()
            raise

    @property
    def ssh(self) -> tuple[str, ...]:
        return self._place.ssh

    def pause(self) -> None:
        """Its time is its own."""

    def go_on(self) -> None:
        """Its time is its own."""

    def runs(self) -> bool:
        return self._open

    def close(self, hang_up: Callable[[], None] = lambda: None) -> None:
        """Raises HostError where something of ours may still be there; it is tried again by whoever comes next."""
        if not self._open:
            return
        self._open = False
        # Whoever was talked to puts back what it did, and only then its programs go.
        hang_up()
        try:
            _take_away(self._place)
            self._marker.unlink(missing_ok=True)
        finally:
            self._closed()


def sweep_own(*, names: Collection[str] | None = None, everything: bool = False) -> tuple[str, ...]:
    """Take away what processes that are gone set up on hosts (names: on these; everything: what living ones did, too).
    Returns the hosts' names.

    Raises HostError where a host is not there any more.
    """
    found = []
    for marker in sorted(_markers().glob("*.json")):
        document = json.loads(marker.read_text())
        if (names is not None and document["host"] not in names) or (not everything and is_alive(document["owner"])):
            continue
        try:
            places = {place.name: place for place in read_inventory(Path(document["inventory"]))}
            _take_away(places[document["host"]])
        except (KeyError, AuthorError, HostError) as error:
            raise HostError(
                f"on {document['host']} of {document['inventory']} something of ours is left: {error}",
                remedy=f"reach it again, or, where it is gone for good: rm {marker}",
            ) from error
        marker.unlink(missing_ok=True)
        found.append(document["host"])
    return tuple(found)


def _take_away(place: Place) -> None:
    _play(place, "take_away", paths=PATHS, users=_USERS)
    with suppress(OSError, subprocess.SubprocessError):
        subprocess.run([*place.ssh, "rmdir", _REMOTE], capture_output=True, timeout=_LOOK_SECONDS, check=False)


def _play(place: Place, book: str, **given: object) -> None:
    """Run one of our playbooks on the host. Raises HostError with the first failure."""
    try:
        import ansible_runner
    except ImportError:
        raise HostError("ansible-runner is not installed", remedy="pip install 'breakfix[hosts]'") from None
    # Ansible's own connection stays a little longer than it is needed, and its socket with it.
    with tempfile.TemporaryDirectory(prefix="breakfix-own-", ignore_cleanup_errors=True) as folder:
        done = ansible_runner.run(
            private_data_dir=folder,
            playbook=str(_HERE / "playbooks" / f"{book}.yml"),
            inventory=str(place.inventory),
            limit=place.name,
            extravars={**given, "ansible_python_interpreter": "/usr/bin/python3"},
            envvars={
                "PATH": f"{Path(ansible('ansible-playbook')).parent}:/usr/local/bin:/usr/bin:/bin",
                "ANSIBLE_CONFIG": f"{folder}/none.cfg",
                "ANSIBLE_HOME": folder,
                "ANSIBLE_PIPELINING": "True",
                "ANSIBLE_TIMEOUT": "60",
                "ANSIBLE_REMOTE_TMP": _REMOTE,
                "ANSIBLE_SSH_TRANSFER_METHOD": "piped",
                "ANSIBLE_SSH_ARGS": "-o ControlMaster=auto -o ControlPersist=20s",
                "ANSIBLE_RETRY_FILES_ENABLED": "False",
            },
            settings={"job_timeout": _PLAY_SECONDS},
            quiet=True,
        )
        if done.rc != 0:
            failures = [event["event_data"] for event in done.events if event["event"] in _FAILURES]
            said = failures[0].get("res", {}) if failures else {}
            where = failures[0].get("task", "") if failures else ""
            why = str(said.get("stderr") or said.get("msg") or done.status).strip()
            raise HostError(
                f"{place.name}: {book}: {where}: {why}",
                remedy=f"`ansible -i {place.inventory} {place.name} -m ping` has to work; then: breakfix clean",
            )


@contextmanager
def _packed(programs: Path) -> Iterator[Path]:
    """The folder as a tar file, files only."""
    with tempfile.TemporaryDirectory(prefix="breakfix-own-") as folder:
        archive = Path(folder) / "programs.tar"
        with tarfile.open(archive, "w") as tar:
            for path in sorted(programs.rglob("*")):
                if path.is_file():
                    tar.add(path, arcname=str(path.relative_to(programs)))
        yield archive


def _markers() -> Path:
    folder = cache_folder() / "vm" / "own"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
