"""What this machine has of all that containers need, and how to get the rest."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec

from runners.here.programs import Need

_PROGRAMS = (
    ("ip", "iproute2"),
    ("iptables-restore", "iptables"),
    ("nsenter", "util-linux"),
    ("mmdebstrap", "mmdebstrap"),
    ("docker", "docker.io"),
)


def needs() -> Iterator[Need]:
    """Everything that is needed, in the order in which one would get it. The engine is asked, and nothing is opened."""
    yield Need("root's rights", "" if os.geteuid() == 0 else "run breakfix as root")
    for library in ("docker", "ansible"):
        yield Need(f"the library {library}", "" if find_spec(library) else "pip install 'breakfix[hosts]'")
    for program, package in _PROGRAMS:
        yield Need(f"the program {program}", "" if shutil.which(program) else f"apt-get install {package}")
    yield from _engine()


def _engine() -> Iterator[Need]:
    if find_spec("docker") is None:
        return
    import docker
    import docker.errors

    try:
        api = docker.APIClient(base_url=os.environ.get("DOCKER_HOST"), version="auto", timeout=10)
        about = api.info()
    except docker.errors.DockerException:
        yield Need("a container engine that answers", "as root: dockerd --userns-remap=default (docs/containers.md)")
        return
    yield Need("a container engine that answers", "")
    remapped = any("name=userns" in option for option in about.get("SecurityOptions") or ())
    remedy = "" if remapped else "start it with --userns-remap=default: root in a world must be nobody here"
    yield Need("user namespaces in the engine", remedy)
    overlays = about.get("Driver") == "overlay2"
    yield Need("overlayfs in the engine", "" if overlays else "start it with --storage-driver=overlay2")
    built = [name for image in api.images(name="breakfix/*") for name in image.get("RepoTags") or ()]
    yield Need("a system's image", "" if built else "breakfix image build web-server")
