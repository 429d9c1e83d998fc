"""As much of an SSH client as it takes to ask a server what somebody may try: it never logs in.

Sources: RFC 4253 (transport), RFC 4252 (authentication), RFC 8731 (curve25519), RFC 5656 (ecdh), RFC 4344 (ctr).
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import socket
from collections.abc import Callable
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric import ec, x25519
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from runners.probes.ssh import NOTHING_ASKED

_VERSION = b"SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u2"
_CURVE, _CURVE_OLD, _NIST = b"curve25519-sha256", b"curve25519-sha256@libssh.org", b"ecdh-sha2-nistp256"
_KEX = (_CURVE, _CURVE_OLD, _NIST)
_HOST_KEYS = (b"ssh-ed25519", b"ecdsa-sha2-nistp256", b"rsa-sha2-512", b"rsa-sha2-256")
_CIPHERS = {b"aes128-ctr": 16, b"aes192-ctr": 24, b"aes256-ctr": 32}
_MACS = {b"hmac-sha2-256": "sha256", b"hmac-sha2-512": "sha512", b"hmac-sha1": "sha1"}
_DISCONNECT, _IGNORE, _DEBUG, _EXT_INFO, _KEXINIT, _NEWKEYS = 1, 2, 4, 7, 20, 21
_SERVICE_REQUEST, _SERVICE_ACCEPT, _ECDH_INIT, _ECDH_REPLY = 5, 6, 30, 31
_AUTH_REQUEST, _AUTH_FAILURE, _AUTH_SUCCESS, _AUTH_BANNER = 50, 51, 52, 53
_LONGEST = 1 << 17


class SshError(OSError):
    """The server says something that is no SSH, or nothing that is understood here."""


def ways_in(link: socket.socket, user: str) -> tuple[str, ...]:
    """The methods by which a server lets `user` try to log in (`publickey`, `password`, …), over a connected socket.

    Its host key is not checked: who is at the other end is for the kernel to say. Raises OSError.
    """
    speech = _Speech(link)
    speech.exchange_keys()
    speech.send(bytes([_SERVICE_REQUEST]) + _text(b"ssh-userauth"))
    speech.expect(_SERVICE_ACCEPT)
    speech.send(bytes([_AUTH_REQUEST]) + _text(user.encode()) + _text(b"ssh-connection") + _text(b"none"))
    answer = speech.expect(_AUTH_FAILURE, _AUTH_SUCCESS)
    if answer[0] == _AUTH_SUCCESS:
        return (NOTHING_ASKED,)
    return tuple(_Reader(answer[1:]).text().decode("ascii", "replace").split(","))


@dataclass(slots=True)
class _Way:
    """One direction: its cipher, its MAC, and how many packets went by."""

    cipher: CipherContext | None = None
    mac: Callable[[bytes], bytes] | None = None
    size: int = 0
    count: int = 0


class _Speech:
    def __init__(self, link: socket.socket) -> None:
        self._link, self._buffer = link, bytearray()
        self._out, self._in = _Way(), _Way()
        link.sendall(_VERSION + b"\r\n")
        for _ in range(50):
            line = self._line()
            if line.startswith(b"SSH-"):
                self._theirs = line
                return
        raise SshError("no SSH server answers")

    def exchange_keys(self) -> None:
        lists = [
            _KEX,
            _HOST_KEYS,
            tuple(_CIPHERS),
            tuple(_CIPHERS),
            tuple(_MACS),
            tuple(_MACS),
            (b"none",),
            (b"none",),
            (),
            (),
        ]
        ours = bytes([_KEXINIT]) + secrets.token_bytes(16) + b"".join(_text(b",".join(one)) for one in lists) + bytes(5)
        self.send(ours)
        theirs = self.expect(_KEXINIT)
        reader = _Reader(theirs[17:])
        offered = [reader.text().split(b",") for _ in lists]
        kex, _, cipher_out, cipher_in, mac_out, mac_in = (
            _common(wanted, there) for wanted, there in zip(lists[:6], offered[:6], strict=True)
        )
        public, agree = _key_pair(kex)
        self.send(bytes([_ECDH_INIT]) + _text(public))
        reader = _Reader(self.expect(_ECDH_REPLY)[1:])
        host_key, other = reader.text(), reader.text()
        try:
            secret = _number(agree(other))
        except ValueError:
            raise SshError("its key is none") from None
        parts = (_VERSION, self._theirs, ours, theirs, host_key, public, other)
        digest = hashlib.sha256(b"".join(map(_text, parts)) + secret).digest()
        self.send(bytes([_NEWKEYS]))
        self.expect(_NEWKEYS)

        def key(letter: bytes, size: int) -> bytes:
            made = hashlib.sha256(secret + digest + letter + digest).digest()
            while len(made) < size:
                made += hashlib.sha256(secret + digest + made).digest()
            return made[:size]

        for way, letters, cipher, mac in (
            (self._out, b"ACE", cipher_out, mac_out),
            (self._in, b"BDF", cipher_in, mac_in),
        ):
            start, sealing, signing = (letters[at : at + 1] for at in range(3))
            made = Cipher(algorithms.AES(key(sealing, _CIPHERS[cipher])), modes.CTR(key(start, 16)))
            way.cipher = made.encryptor() if way is self._out else made.decryptor()
            name = _MACS[mac]
            way.size = hashlib.new(name).digest_size
            way.mac = _signer(key(signing, way.size), name)

    def send(self, payload: bytes) -> None:
        way, block = self._out, 16 if self._out.cipher else 8
        padding = block - (len(payload) + 5) % block
        padding += block if padding < 4 else 0
        packet = (
            (len(payload) + padding + 1).to_bytes(4, "big") + bytes([padding]) + payload + secrets.token_bytes(padding)
        )
        sealed = way.cipher.update(packet) if way.cipher else packet
        signed = way.mac(way.count.to_bytes(4, "big") + packet) if way.mac else b""
        way.count += 1
        self._link.sendall(sealed + signed)

    def expect(self, *kinds: int) -> bytes:
        """The next message that says anything; raises SshError where it is of none of these kinds."""
        while True:
            message = self._receive()
            kind = message[0] if message else 0
            if kind in kinds:
                return message
            if kind not in (_IGNORE, _DEBUG, _EXT_INFO, _AUTH_BANNER):
                raise SshError("it hung up" if kind == _DISCONNECT else f"it said {kind} where {kinds[0]} was due")

    def _receive(self) -> bytes:
        way, block = self._in, 16 if self._in.cipher else 8
        head = self._exactly(block)
        head = way.cipher.update(head) if way.cipher else head
        size = int.from_bytes(head[:4], "big")
        if not 2 <= size <= _LONGEST or (size + 4) % block:
            raise SshError("no packet of SSH")
        rest = self._exactly(size + 4 - block)
        packet = head + (way.cipher.update(rest) if way.cipher else rest)
        if way.mac and not hmac.compare_digest(self._exactly(way.size), way.mac(way.count.to_bytes(4, "big") + packet)):
            raise SshError("a packet was changed on its way")
        way.count += 1
        return packet[5 : 4 + size - packet[4]]

    def _exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            part = self._link.recv(1 << 16)
            if not part:
                raise SshError("it hung up")
            self._buffer += part
        found = bytes(self._buffer[:size])
        del self._buffer[:size]
        return found

    def _line(self) -> bytes:
        found = b""
        while not found.endswith(b"\n"):
            found += self._exactly(1)
            if len(found) > 1024:
                raise SshError("no SSH server answers")
        return found.rstrip(b"\r\n")


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def text(self) -> bytes:
        size = int.from_bytes(self._data[:4], "big")
        if len(self._data) < 4 + size:
            raise SshError("a message ends too early")
        found, self._data = self._data[4 : 4 + size], self._data[4 + size :]
        return found


def _signer(key: bytes, name: str) -> Callable[[bytes], bytes]:
    return lambda data: hmac.digest(key, data, name)


def _key_pair(kex: bytes) -> tuple[bytes, Callable[[bytes], bytes]]:
    """(our public part, the other's public part -> the shared secret)"""
    if kex == _NIST:
        private = ec.generate_private_key(ec.SECP256R1())
        public = private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return public, lambda other: private.exchange(
            ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), other)
        )
    own = x25519.X25519PrivateKey.generate()
    public = own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    return public, lambda other: own.exchange(x25519.X25519PublicKey.from_public_bytes(other))


def _common(wanted: tuple[bytes, ...], offered: list[bytes]) -> bytes:
    for one in wanted:
        if one in offered:
            return one
    raise SshError(f"it takes none of {b', '.join(wanted).decode()}")


def _text(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _number(data: bytes) -> bytes:
    """A shared secret as a multiple-precision integer."""
    data = data.lstrip(b"\0")
    return _text(b"\0" + data if data and data[0] & 0x80 else data)
