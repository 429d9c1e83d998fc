"""What a system says of the virtual machine that it is: packages, kernel, sources, services."""

from __future__ import annotations

from dataclasses import dataclass

from scenario_dsl.errors import AuthorError
from scenario_dsl.model import System
from scenario_dsl.values import Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """One service of the quiet machine: a request of `work_us` microseconds every `every_us`, in a control group."""

    name: str
    group: str
    every_us: int
    work_us: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """suite: the Debian release; backports: where the kernel comes from; release: the line of kernels that is
    preferred.

    objects: BPF sources, programs: path of a program -> its C source, both among the system's files; files: all of
    those, path -> text.
    """

    hostname: str
    suite: str
    backports: str
    release: str
    packages: tuple[str, ...]
    objects: tuple[str, ...]
    programs: dict[str, str]
    services: tuple[Service, ...]
    files: dict[str, str]
    memory: int

    @classmethod
    def of(cls, system: System) -> Recipe:
        """Raises AuthorError for a system that is no host with sched_ext."""
        section = system.settings.get("kernel")
        if not isinstance(section, dict):
            raise AuthorError(f"the system {system.name} has no `kernel`: it is no host with sched_ext")
        memory = system.settings.get("memory")
        total = memory.get("total") if isinstance(memory, dict) else None
        programs = section.get("programs")
        return cls(
            hostname=str(system.settings["hostname"]),
            suite=str(section["suite"]),
            backports=str(section["backports"]),
            release=str(section["release"]),
            packages=_texts(section.get("packages")),
            objects=_texts(section.get("objects")),
            programs={str(key): str(value) for key, value in programs.items()} if isinstance(programs, dict) else {},
            services=tuple(_service(entry) for entry in _entries(section.get("services"))),
            files={file.path: file.content for file in system.files if file.content is not None},
            memory=int(total) if isinstance(total, int | float) else 512 << 20,
        )


def _service(entry: dict[str, Value]) -> Service:
    def microseconds(key: str) -> int:
        value = entry[key]
        assert isinstance(value, int | float)
        return round(value * 1e6)

    return Service(
        name=str(entry["name"]),
        group=str(entry["group"]),
        every_us=microseconds("every"),
        work_us=microseconds("work"),
    )


def _texts(value: Value) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, tuple) else ()


def _entries(value: Value) -> tuple[dict[str, Value], ...]:
    return tuple(dict(item) for item in value if isinstance(item, dict)) if isinstance(value, tuple) else ()
