"""The kernel's sockets, by both ways of asking for them."""

import os
import socket
import struct

import pytest

from runners.hosts import sockets
from runners.hosts.kernel_view import Process
from runners.hosts.sockets import LISTENS, UNCONNECTED, asked, connected_to, listeners, listening, printed

_ME = Process(pid=os.getpid(), inner=1, name="me", argv=("me",), state="S", uid=0, rss=0, started="")

enters = pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: only root may enter a network")


@pytest.fixture(params=["asked", "printed"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both kinds of kernel."""
    if request.param == "printed":

        def refused(*_: object) -> None:
            raise FileNotFoundError("this kernel was built without it")

        monkeypatch.setattr(sockets, "asked", refused)
    elif os.geteuid() != 0:
        pytest.skip("NOT TESTED: only root may enter a network")
    return str(request.param)


def test_who_listens_is_seen_without_asking_whose_it_is(way: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert ("tcp", port) in listening(os.getpid())
    assert ("tcp", port) not in listening(os.getpid())


def test_every_protocol_has_its_address_and_its_holder(way: str) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as fourth,
        socket.create_server(("::1", 0), family=socket.AF_INET6) as sixth,
        socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as both,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams,
    ):
        datagrams.bind(("0.0.0.0", 0))
        found = {(one.protocol, one.address, one.port, one.pids) for one in listeners(os.getpid(), (_ME,))}
        for protocol, address, opened in (
            ("tcp", "127.0.0.1", fourth),
            ("tcp", "::1", sixth),
            ("tcp", "::", both),
            ("udp", "0.0.0.0", datagrams),
        ):
            assert (protocol, address, opened.getsockname()[1], (os.getpid(),)) in found


def test_what_is_connected_does_not_listen_and_is_found_by_its_other_end(way: str) -> None:
    with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client, server.accept()[0]:
            mine = ("127.0.0.1", client.getsockname()[1])
            (end,) = connected_to(os.getpid(), (_ME,), mine)
            assert (end.address, end.port, end.pids) == ("127.0.0.1", port, (os.getpid(),))
            assert mine[1] not in {number for protocol, number in listening(os.getpid()) if protocol == "tcp"}


@enters
@pytest.mark.parametrize(("protocol", "state"), [("tcp", LISTENS), ("udp", UNCONNECTED)])
def test_the_kernel_says_what_it_prints(protocol: str, state: int) -> None:
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as one, socket.socket(socket.AF_INET6, kind) as other:
        inodes = set()
        for made, address in ((one, "127.0.0.1"), (other, "::1")):
            made.bind((address, 0))
            if protocol == "tcp":
                made.listen()
            inodes.add(os.fstat(made.fileno()).st_ino)
        said = {found for found in asked(os.getpid(), protocol, state) if found.inode in inodes}
        assert len(said) == 2
        assert said == {found for found in printed(os.getpid(), protocol) if found.inode in inodes}


def test_a_kernel_that_says_no_is_not_taken_for_one_without_sockets() -> None:
    ours, kernels = socket.socketpair()
    with ours, kernels:
        refusal = struct.pack("=i", -2)
        kernels.send(struct.pack("=IHHII", 16 + len(refusal), 2, 0, 0, 0) + refusal)
        with pytest.raises(FileNotFoundError):
            list(sockets._answers(ours))


def test_who_is_gone_has_no_sockets() -> None:
    assert listening(2**22 + 1) == frozenset()
