"""Observations as evidence: secrets are taken out before anything leaves the world; hashes pin the rest."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from compiler.evidence import EvidenceRef
from compiler.layout import sha256
from runners.worlds import CommandResult
from scenario_dsl.errors import AuthorError

REDACTED = b"[redacted]"
SHORTEST_CITED = 8
"""Characters of an id that name an observation."""

_SECRETS = re.compile(
    rb"""
    (?P<pem> -----BEGIN\ [A-Z ]*PRIVATE\ KEY----- .*? (?:-----END\ [A-Z ]*PRIVATE\ KEY-----|\Z) )
  | (?P<hash> \$(?:y|gy|7|6|5|2[aby]|1|apr1)\$[^:\s'"]+ )
  | (?P<token> \b(?:AKIA[0-9A-Z]{16}|gh[pousr]_[0-9A-Za-z]{36,}|xox[abpr]-[0-9A-Za-z-]{10,}|
        eyJ[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{10,}\.[0-9A-Za-z_-]{5,}) )
  | (?<=://)(?P<user> [^\s:/@]* : )(?P<url> [^\s/@]+ )(?=@)
  | (?P<name> (?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|requirepass|masterauth)[\w.-]{0,64}
        ["']? (?: \s*[=:]\s* | \s+(?=\S+\s*(?:\n|\Z)) ) ["']? )(?P<value> [^\s"',;]{4,} )
  | (?P<bearer> \b(?:Bearer|Basic)\s+ )(?P<authorization> [0-9A-Za-z._~+/=-]{8,} )
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_WORDS = re.compile(rb"(?i)yes|no|true|false|none|null|prohibit-password|without-password|required|sufficient|optional")
"""Values that are settings, not secrets: `PasswordAuthentication yes`."""


class Kept(NamedTuple):
    """An observation and its output as it may leave the world."""

    ref: EvidenceRef
    output: bytes


def keep(world: str, command: str, result: CommandResult, *, at: float) -> Kept:
    """The evidence that one command gave. at: when it began, in seconds since the attempt did."""
    output, redacted = redact(result.output)
    said, more = redact(command.encode("utf-8", "surrogateescape"))
    ref = EvidenceRef(
        world=world,
        command=said.decode("utf-8", "replace"),
        at=round(at, 6),
        seconds=round(result.seconds, 6),
        exit_code=result.exit_code,
        size=len(output),
        sha256=sha256(output),
        redacted=redacted + more,
    )
    return Kept(ref, output)


def seen_as(command: str, exit_code: int, output: str) -> str:
    """The id by which a document that is handed in during an episode cites one of its commands."""
    return sha256(f"{command}\0{exit_code}\0{output}".encode("utf-8", "surrogateescape"))


def redact(data: bytes) -> tuple[bytes, int]:
    """The text without private keys, password hashes, tokens, passwords in URLs and values of what is called a
    password, a secret, a token or a key; and how many there were."""
    count = 0

    def hide(found: re.Match[bytes]) -> bytes:
        nonlocal count
        if found["value"] is not None and (_WORDS.fullmatch(found["value"]) or found["value"].startswith((b"/", b"$"))):
            return found[0]
        count += 1
        return (found["user"] or found["name"] or found["bearer"] or b"") + REDACTED

    return _SECRETS.sub(hide, data), count


def public(text: str) -> str:
    """A text as it may leave the world."""
    return redact(text.encode("utf-8", "surrogateescape"))[0].decode("utf-8", "replace")


def cited(given: Collection[str], known: Collection[EvidenceRef]) -> tuple[str, ...]:
    """The whole ids of what is cited, by their first characters. Raises AuthorError for what this attempt has not seen
    and for beginnings that several observations share."""
    ids = [ref.id for ref in known]
    found: list[str] = []
    for short in given:
        matching = [each for each in ids if len(short) >= SHORTEST_CITED and each.startswith(short)]
        if not matching:
            raise AuthorError(f"evidence `{short}` is nothing that this attempt has seen")
        if len(set(matching)) > 1:
            raise AuthorError(f"evidence `{short}` may mean {len(set(matching))} observations; give more of its id")
        found.append(matching[0])
    return tuple(dict.fromkeys(found))
