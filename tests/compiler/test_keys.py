from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, generate_private_key
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from compiler.keys import generate, load_private, load_public, public_pem
from compiler.refusals import BadKey, Missing, NotAPlainFile
from compiler.trust import add_key, default_folder, load_trust


def test_a_new_pair_is_private_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        public = generate(tmp_path / "keys" / "author")
    finally:
        os.umask(old)
    private = tmp_path / "keys" / "author"
    assert public == tmp_path / "keys" / "author.pub"
    assert stat.S_IMODE(private.stat().st_mode) == 0o600
    assert private.read_bytes().startswith(b"-----BEGIN PRIVATE KEY-----")
    assert public.read_bytes() == public_pem(load_private(private).public_key()) == public_pem(load_public(public))


@pytest.mark.parametrize("name", ["/", ".", ""])
def test_a_key_needs_a_name(name: str) -> None:
    with pytest.raises(BadKey, match="no name"):
        generate(Path(name))


def test_keys_are_never_overwritten(tmp_path: Path) -> None:
    public = generate(tmp_path / "author")
    before = (tmp_path / "author").read_bytes(), public.read_bytes()
    with pytest.raises(BadKey, match="author: exists already"):
        generate(tmp_path / "author")
    assert ((tmp_path / "author").read_bytes(), public.read_bytes()) == before
    (tmp_path / "author").unlink()
    with pytest.raises(BadKey, match=r"author\.pub: exists already"):
        generate(tmp_path / "author")
    assert not (tmp_path / "author").exists()


def test_a_private_key_that_others_may_read_is_refused(tmp_path: Path) -> None:
    generate(tmp_path / "author")
    (tmp_path / "author").chmod(0o640)
    with pytest.raises(BadKey, match="chmod 600"):
        load_private(tmp_path / "author")


def test_what_is_no_ed25519_key_is_refused(tmp_path: Path) -> None:
    other = generate_private_key(SECP256R1())
    public = generate(tmp_path / "author")
    encrypted = load_private(tmp_path / "author").private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"secret")
    )
    private_forms = {
        "junk": b"junk",
        "empty": b"",
        "ec": other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        "encrypted": encrypted,
        "public": public.read_bytes(),
    }
    for name, data in private_forms.items():
        (tmp_path / name).write_bytes(data)
        (tmp_path / name).chmod(0o600)
        with pytest.raises(BadKey, match=name):
            load_private(tmp_path / name)
    public_forms = {
        "junk.pub": b"junk",
        "ec.pub": other.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo),
        "private.pub": (tmp_path / "author").read_bytes(),
    }
    for name, data in public_forms.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadKey, match=name):
            load_public(tmp_path / name)
    with pytest.raises(Missing):
        load_public(tmp_path / "nobody.pub")


def test_the_trust_store_is_its_public_keys(tmp_path: Path) -> None:
    store = tmp_path / "trusted"
    assert load_trust(store).keys == ()
    author, other = generate(tmp_path / "author"), generate(tmp_path / "other")
    added = add_key(store, author)
    assert added == store / "author.pub"
    assert add_key(store, author) == added
    add_key(store, other, name="a-friend")
    (store / "README").write_text("not a key")
    trust = load_trust(store)
    assert [key.name for key in trust.keys] == ["a-friend", "author"]
    assert public_pem(trust.keys[1].key) == author.read_bytes()
    assert trust.names == f"a-friend, author in {store}"
    with pytest.raises(BadKey, match="another name"):
        add_key(store, other, name="author")
    for name in ("../out", "a/b"):
        with pytest.raises(BadKey, match="not a name"):
            add_key(store, other, name=name)


def test_what_is_no_key_in_the_store_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.pub").write_text("junk")
    with pytest.raises(BadKey, match=r"bad\.pub"):
        load_trust(tmp_path)
    (tmp_path / "bad.pub").unlink()
    (tmp_path / "link.pub").symlink_to(generate(tmp_path.parent / "elsewhere"))
    with pytest.raises(NotAPlainFile):
        load_trust(tmp_path)


def test_where_the_store_is() -> None:
    home = Path("/home/me")
    assert default_folder({}, home) == Path("/home/me/.config/breakfix/trusted")
    assert default_folder({"XDG_CONFIG_HOME": "/conf"}, home) == Path("/conf/breakfix/trusted")
    assert default_folder({"XDG_CONFIG_HOME": "/conf", "BREAKFIX_TRUSTED": "/keys"}, home) == Path("/keys")
