"""One world that is a container: the interface of worlds over all else in this folder. Its time is the real one."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack

from runners.cutting import cut
from runners.guarding import guarded
from runners.hosts.box import Box
from runners.hosts.clients import Clients
from runners.hosts.disks import Described
from runners.hosts.engine import Engine, EngineError
from runners.hosts.facts import (
    Layers,
    Node,
    Picture,
    base_facts,
    from_image,
    lasting,
    take_picture,
    volatile_paths,
    without_salt,
)
from runners.hosts.kernel_view import Digests
from runners.hosts.lingering import scheduled, unowned
from runners.hosts.neighbours import Neighbours
from runners.hosts.outside import Outside
from runners.hosts.playbooks import Play
from runners.hosts.playbooks import apply as apply_tasks
from runners.hosts.probes.evaluate import evaluate
from runners.hosts.recordings import TRACES, Recordings, after
from runners.hosts.restore import restore
from runners.hosts.session import Session
from runners.hosts.teller import COMPANION, Teller
from runners.hosts.wellness import wait_until_at_rest, wait_until_well
from runners.hosts.wiring import Network
from runners.system import SystemSpec, texts
from runners.worlds import CommandResult, Facts, Observation, TaskFailure, WorldError
from scenario_dsl.model import Probe, Task

_KEPT = 4 << 20
_TIMED_OUT = 124
_NO_SHELL = b"Connection to the machine failed.\n"
_UNREACHABLE = 255
"""What ssh says and ends with where no shell can be had."""
_AGED_AT_MOST = 2.0
"""The most real seconds that a past of any length takes here."""

_guarded = guarded("the container")


class ContainerWorld:
    """Open from the moment it is made. Raises WorldError for whatever goes wrong on our side."""

    moment = 1.0

    def __init__(
        self,
        engine: Engine,
        spec: SystemSpec,
        image: str,
        recordings: Recordings,
        digests: Digests,
        *,
        seed: int,
        healthy: Sequence[Probe] = (),
        asked: Sequence[Probe] = (),
        coming: Sequence[Sequence[Task]] = (),
        network: Network | None = None,
        disks: Sequence[Described] = (),
        together: Callable[[], None] = lambda: None,
        closed: Callable[[], None] = lambda: None,
    ) -> None:
        """digests: of programs of the image; healthy: probes that hold once everything answers; asked: probes whose
        usual answer is to be known; coming: what will be applied first, if anything will; network: that of a fleet;
        disks: file systems of its own; together: called when it listens and when it is well, and returns once all of
        its fleet have come as far; closed: called once, when nothing of the world is left."""
        self._engine, self._spec, self._image, self._recordings = engine, spec, image, recordings
        self._state: str | None = image
        self._telling: Future[Teller | None] | None = None
        self._needs: dict[str, tuple[str, ...]] = {}
        self._pictures: list[tuple[Facts, Picture]] = []
        with ExitStack() as undoing:
            undoing.callback(closed)
            known = recordings.known(image, coming)
            companion = COMPANION if known else ()
            self._box = Box(engine, spec, image, kind="world", network=network, disks=disks, companion=companion)
            undoing.callback(self._box.close)
            undoing.callback(Neighbours(spec, self._box.outside).close)
            self._box.start()
            if self._box.link is not None:
                beside = ThreadPoolExecutor(1)
                ended = self._box.wait_for_companion
                self._telling = beside.submit(recordings.teller, self._box.link, known, ended)
                beside.shutdown(wait=False)
                undoing.callback(self._hush)
            self._outside = Outside(self._box, spec, None, digests)
            undoing.callback(lambda: self._outside.close())
            # The image's dates are its own; what is described as young must not be old by the time it is played.
            for file in spec.files:
                if file.age:
                    self._outside.files.set_age(file.path, file.age)
            self._to_come = len(coming)
            self._layers = Layers.of(engine.inspect(self._box.container))
            self._outside.manager.wait_until_up(_services(spec), self._box.runs)
            wait_until_well(self._outside, healthy, asked, together)
            together()
            self._clients = self._outside.clients = Clients(spec, self._box.plan.own, self._box.outside, seed)
            undoing.callback(self._clients.close)
            self._session = Session(engine, self._box.container)
            undoing.callback(self._session.close)
            self._undoing = undoing.pop_all()
        self._opened = time.monotonic()

    def _hush(self) -> None:
        """Nothing of ours runs in the world any more."""
        telling, self._telling = self._telling, None
        teller = telling.result() if telling is not None else None
        if teller is not None:
            teller.close()

    # -- the agent's side

    @_guarded
    def run(self, command: str, *, output_bytes: int, seconds: float) -> CommandResult:
        self._hush()
        self._up()
        self.touched()
        begun = time.monotonic()
        try:
            said = self._session.run(command, seconds=seconds, keep=max(_KEPT, 4 * output_bytes))
        except EngineError:
            if not self._engine.answers():
                raise
            # The engine is well, so the machine is not: out of processes, say, or of memory. That is the agent's doing.
            took = time.monotonic() - begun
            gone = _NO_SHELL
            return CommandResult(output=gone, stdout=b"", stderr=gone, exit_code=_UNREACHABLE, seconds=took)
        kept = [cut(data, output_bytes) for data in (said.output, said.stdout, said.stderr)]
        return CommandResult(
            output=kept[0],
            stdout=kept[1],
            stderr=kept[2],
            exit_code=_TIMED_OUT if said.timed_out else said.exit_code,
            seconds=time.monotonic() - begun,
            truncated=said.dropped or kept[0] != said.output,
            timed_out=said.timed_out,
            prompt=self.prompt(),
        )

    def prompt(self) -> str:
        folder = self._session.folder
        if f"{folder}/".startswith("/root/"):
            folder = "~" + folder[len("/root") :]
        return f"root@{self._spec.hostname}:{folder}# "

    # -- the other side

    def touched(self) -> None:
        """Somebody may have been here from another machine: it is in no state that others are in, too."""
        self._state, self._outside.in_trouble = None, True

    @_guarded
    def observe(self, probes: Sequence[Probe]) -> tuple[Observation, ...]:
        self._hush()
        outside = self._up()
        return tuple(evaluate(outside, probe) for probe in probes)

    @_guarded
    def apply(self, tasks: Sequence[Task]) -> TaskFailure | None:
        outside = self._up()
        outside.in_trouble = True
        play = Play(self._box.container, self._engine.url)
        if self._state is None:
            failure, _ = apply_tasks(play, tasks)
        else:
            teller = self._telling.result() if self._telling is not None else None
            failure = self._recordings.apply(self._engine, play, self._state, tasks, teller)
            self._state = after(self._state, tasks)
            self._to_come -= 1
            if self._to_come <= 0:
                self._hush()
        for folder in TRACES:
            if outside.files.stat(folder) is not None:
                self._box.run(["rm", "-rf", folder])
        return failure

    def wait(self, seconds: float) -> None:
        time.sleep(seconds)

    @_guarded
    def age(self, seconds: float, machines: int = 1) -> None:
        """Real time cannot be skipped: its clients ask at once what they would have asked meanwhile, and systemd
        forgets what it would have forgotten. machines: of its fleet."""
        self._clients.catch_up(seconds, machines)
        wait_until_at_rest(self._outside, min(seconds, _AGED_AT_MOST))
        self._outside.manager.forget_starts(seconds)

    def elapsed(self) -> float:
        return time.monotonic() - self._opened

    @_guarded
    def facts(self) -> Facts:
        self._hush()
        outside = self._up()
        picture = take_picture(self._layers, volatile_paths(self._spec), self._box.inside, outside.uids)
        base = base_facts(self._image, self._layers, self._spec, outside.uids)
        by_inner = {one.inner: one for one in outside.processes()}
        if not self._needs:
            # As it was before anybody could change what units say.
            self._needs = {name: outside.manager.needs(name) for name, _ in outside.services()}
        facts = Facts(
            persistent=lasting(base, picture),
            processes={
                name: f"{main} since {by_inner[main].started}"
                for name, main in sorted(outside.services())
                if main in by_inner
            },
            needs=self._needs,
            unsalted=without_salt(outside.files),
            others=unowned(outside, self._session.pid),
            scheduled=scheduled(outside),
            requests_failed=self._clients.requests_failed,
            transactions_broken=self._clients.transactions_broken,
        )
        self._pictures.append((facts, picture))
        return facts

    @_guarded
    def restore(self, before: Facts) -> tuple[str, ...]:
        outside = self._up()
        picture = next((picture for facts, picture in self._pictures if facts is before), None)
        if picture is None:
            raise WorldError("these facts were not taken in this world")
        now = self.facts()

        def was(path: str) -> Node | None:
            return picture.nodes.get(path) or from_image(self._layers, path, outside.uids)

        restore(outside, now.persistent, before.persistent, was, picture.firewall)
        after = self.facts().persistent
        names = sorted(after.keys() | before.persistent.keys())
        return tuple(name for name in names if after.get(name) != before.persistent.get(name))

    @_guarded
    def close(self) -> None:
        self._undoing.close()

    def _up(self) -> Outside:
        """The running world; one that was shut down comes up again, as a machine does whose power is on."""
        outside = self._outside
        if self._box.runs():
            if not outside.going_down():
                return outside
            # A shell ignores being asked to end, and the machine would wait for it.
            self._session.close()
            self._box.wait_until_down()
        self._session.close()
        outside.close()
        self._box.start()
        renewed = Outside(self._box, self._spec, self._clients)
        renewed.inherit(outside)
        renewed.manager.wait_until_up((), self._box.runs)
        self._outside = renewed
        return renewed


def _services(spec: SystemSpec) -> tuple[str, ...]:
    """The enabled units of the description that an image was given: what has to run before a world is healthy."""
    own = {os.path.basename(file.path) for file in spec.files if file.path.endswith(".service")}
    units = spec.section("units")
    return tuple(
        name for name in texts(units.get("enabled")) if f"{name}.service" in own and not name.startswith("systemd-")
    )
