"""Whose signatures count: a folder of public keys. Nothing else decides it, least of all a key id in an envelope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from compiler.keys import key_id, load_public, public_pem
from compiler.reading import names_in
from compiler.refusals import BadKey
from scenario_dsl.writing import write_file

VARIABLE = "BREAKFIX_TRUSTED"
"""The environment variable that names another folder; only the command line reads it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedKey:
    """`name` is its file's name without `.pub`: what people call the signer."""

    name: str
    key: Ed25519PublicKey

    @property
    def key_id(self) -> str:
        return key_id(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    """The keys whose signatures are accepted. `source` is what messages call the store."""

    source: str
    keys: tuple[TrustedKey, ...]

    @property
    def names(self) -> str:
        """For messages: the names of all keys, and where they are from."""
        return f"{', '.join(key.name for key in self.keys) or 'none'} in {self.source}"


def default_folder(environment: Mapping[str, str], home: Path) -> Path:
    """Where the trust store is: `$BREAKFIX_TRUSTED`, else `$XDG_CONFIG_HOME/breakfix/trusted`, else below ~/.config."""
    named = environment.get(VARIABLE)
    if named:
        return Path(named)
    configuration = environment.get("XDG_CONFIG_HOME")
    return (Path(configuration) if configuration else home / ".config") / "breakfix" / "trusted"


def load_trust(folder: Path) -> Trust:
    """Every `*.pub` in the folder. A folder that is not there trusts nobody; a file that is no key is an error."""
    names = names_in(folder) if folder.is_dir() else ()
    keys = (
        TrustedKey(name=name.removesuffix(".pub"), key=load_public(folder / name))
        for name in names
        if name.endswith(".pub")
    )
    return Trust(source=str(folder), keys=tuple(keys))


def trust_only(public: Path) -> Trust:
    """A store of one key file, named on the command line."""
    return Trust(source=str(public), keys=(TrustedKey(name=public.name.removesuffix(".pub"), key=load_public(public)),))


def add_key(folder: Path, public: Path, name: str | None = None) -> Path:
    """Trust a public key from now on: copy it to the folder as `<name>.pub`. Raises BadKey for a taken name."""
    key = load_public(public)
    target = folder / f"{name or public.name.removesuffix('.pub')}.pub"
    if target.parent != folder:
        raise BadKey(str(target), "is not a name for a key")
    if target.exists():
        if public_pem(load_public(target)) == public_pem(key):
            return target
        raise BadKey(str(target), "is another key already; give this one another name")
    write_file(target, public_pem(key))
    return target
