"""Why something handed to the compiler is refused. One class for each reason; its text is the class's template.

Fields are positional, so that a refusal survives pickling on its way between processes.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from scenario_dsl.errors import AuthorError


@dataclass(eq=False)
class Refusal(AuthorError):  # noqa: N818 (it reads as what it is: a bundle is refused)
    """The base: `template` is filled with the fields."""

    template: ClassVar[str] = ""

    def __str__(self) -> str:
        facts = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return self.template.format(**facts)


# -- the shape of what lies on disk


@dataclass(eq=False)
class Missing(Refusal):
    template: ClassVar[str] = "{file}: is missing"
    file: str


@dataclass(eq=False)
class Extra(Refusal):
    template: ClassVar[str] = "{file}: does not belong to the bundle; it was added or renamed"
    file: str


@dataclass(eq=False)
class NotAPlainFile(Refusal):
    """`kind`: symbolic link, hard link, device, fifo, socket."""

    template: ClassVar[str] = "{file}: is a {kind}; a bundle holds plain files and folders only"
    file: str
    kind: str


@dataclass(eq=False)
class EmptyFolder(Refusal):
    template: ClassVar[str] = "{file}: is an empty folder, which no bundle holds"
    file: str


@dataclass(eq=False)
class TooLarge(Refusal):
    template: ClassVar[str] = "{file}: is larger than the {limit} bytes allowed"
    file: str
    limit: int


@dataclass(eq=False)
class TooMany(Refusal):
    template: ClassVar[str] = "{file}: holds more than the {limit} entries allowed"
    file: str
    limit: int


@dataclass(eq=False)
class BadPath(Refusal):
    template: ClassVar[str] = (
        "{file!r}: is not a path that a bundle may hold (lower-case letters, digits, `.`, `-` and `_`, "
        "parts joined by `/`, none beginning with a dot)"
    )
    file: str


@dataclass(eq=False)
class Unreadable(Refusal):
    template: ClassVar[str] = "{file}: cannot be read: {reason}"
    file: str
    reason: str


# -- what the manifest and the tar say


@dataclass(eq=False)
class Altered(Refusal):
    template: ClassVar[str] = "{file}: was altered: its sha256 is {found}, the manifest says {expected}"
    file: str
    found: str
    expected: str


@dataclass(eq=False)
class BadManifest(Refusal):
    template: ClassVar[str] = "manifest.json: {reason}"
    reason: str


@dataclass(eq=False)
class UnknownFormat(Refusal):
    template: ClassVar[str] = "manifest.json: its format is {found!r}; this version of breakfix reads {expected!r}"
    found: str
    expected: str


@dataclass(eq=False)
class BadTar(Refusal):
    template: ClassVar[str] = "{file}: {reason}"
    file: str
    reason: str


# -- signatures and proofs


@dataclass(eq=False)
class Unsigned(Refusal):
    template: ClassVar[str] = "{file}: is missing: the bundle is not signed"
    file: str


@dataclass(eq=False)
class BadEnvelope(Refusal):
    template: ClassVar[str] = "{file}: {reason}"
    file: str
    reason: str


@dataclass(eq=False)
class Stranger(Refusal):
    """`trusted` names the keys that were tried."""

    template: ClassVar[str] = "{file}: is signed by none of the trusted keys ({trusted}); add a public key to trust it"
    file: str
    trusted: str


@dataclass(eq=False)
class WrongSubject(Refusal):
    template: ClassVar[str] = "{file}: was signed for another {subject}: {signed}, not {found}"
    file: str
    subject: str
    signed: str
    found: str


@dataclass(eq=False)
class BadProof(Refusal):
    template: ClassVar[str] = "{file}: {reason}"
    file: str
    reason: str


# -- keys


@dataclass(eq=False)
class BadKey(Refusal):
    template: ClassVar[str] = "{file}: {reason}"
    file: str
    reason: str


# -- writing


@dataclass(eq=False)
class ForeignFolder(Refusal):
    template: ClassVar[str] = "{folder}: holds {entry}, which no compiled bundle holds; it is not overwritten"
    folder: str
    entry: str
