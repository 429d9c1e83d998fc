"""The parts that need no engine."""

from __future__ import annotations

import base64
import io
import json
import os
import re
import shutil
import socket
import stat
import struct
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import pytest

from runners.hosts import retelling
from runners.hosts.dbus import Connection, DBusError
from runners.hosts.facts import Layers, Picture, lasting, take_picture
from runners.hosts.files import Files
from runners.hosts.kernel import open_beneath
from runners.hosts.kernel_view import Digests, Process, program_of
from runners.hosts.layer import _merged_accounts, write_layer
from runners.hosts.neighbours import answer_query
from runners.hosts.playbooks import Call, has_failed
from runners.hosts.probes.network import first_address
from runners.hosts.probes.tracing import Segment, parse
from runners.hosts.recipe import Recipe
from runners.hosts.session import Kept, _Listening
from runners.hosts.teller import libraries
from runners.hosts.wiring import Plan
from runners.sim.build import boot
from runners.system import SystemSpec
from scenario_dsl.errors import AuthorError
from tests.conformance.worlds import library

# -- the shell's output


def frame(stream: int, data: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + struct.pack(">I", len(data)) + data


def test_output_ends_at_the_mark_however_it_is_cut() -> None:
    whole = frame(1, b"out\n") + frame(2, b"err\n") + frame(1, b"\0mark 7 /etc\0") + frame(2, b"\0mark\0")
    for size in (1, 3, 7, 64):
        listening = _Listening("mark", 1000)
        for at in range(0, len(whole), size):
            listening.feed(whole[at : at + size])
        assert listening.done
        assert (listening.streams[1].bytes(), listening.streams[2].bytes()) == (b"out\n", b"err\n")
        assert listening.both.bytes() == b"out\nerr\n"
        assert (listening.status, listening.folder) == (7, "/etc")


def test_zeros_in_the_output_are_no_mark() -> None:
    listening = _Listening("mark", 1000)
    for data in (b"\0ma", b"rx\0\0", b"\0mark 0 /\0"):
        listening.feed(frame(1, data))
    listening.feed(frame(2, b"\0mark\0"))
    assert listening.streams[1].bytes() == b"\0marx\0\0"


def test_endless_output_keeps_its_ends() -> None:
    kept = Kept(100)
    for number in range(1000):
        kept.add(b"%03d " % number)
    said = kept.bytes()
    assert said.startswith(b"000 ")
    assert said.endswith(b"999 ")
    assert b"bytes omitted" in said
    assert len(said) < 250


# -- systemd's bus


def test_a_call_and_its_answer() -> None:
    ours, theirs = socket.socketpair()

    def systemd() -> None:
        theirs.recv(100)
        theirs.sendall(b"OK 0123\r\n")
        for _ in range(2):
            asked = theirs.recv(4096)
            asked = asked[7:] if asked.startswith(b"BEGIN") else asked
            if not asked:
                asked = theirs.recv(4096)
            serial = struct.unpack_from("<I", asked, 8)[0]
            fields = b"\x05\x01u\0" + struct.pack("<I", serial) + b"\x08\x01g\0\x05a{sv}\0"
            text = struct.pack("<I", 4) + b"Name\0" + b"\x01s\0" + struct.pack("<I", 5) + b"nginx\0"
            body = struct.pack("<II", len(text), 0) + text
            head = struct.pack("<BBBBIII", ord("l"), 2, 0, 1, len(body), 1, len(fields)) + fields
            theirs.sendall(head + bytes(-len(head) % 8) + body)

    thread = threading.Thread(target=systemd)
    thread.start()
    ours.settimeout(5)
    assert Connection(ours).call("/unit", "interface", "GetAll", "x") == ({"Name": "nginx"},)
    thread.join()
    ours.close()
    theirs.close()


def test_a_stranger_on_the_bus_is_refused() -> None:
    ours, theirs = socket.socketpair()
    theirs.sendall(b"REJECTED\r\n")
    with pytest.raises(DBusError, match="not let in"):
        Connection(ours)
    ours.close()
    theirs.close()


# -- names


def query(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return struct.pack(">HHHHHH", 77, 0x0100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">HH", kind, 1)


def test_the_name_server_knows_what_is_described() -> None:
    names = {"shop.example.com": "10.0.0.10"}
    assert answer_query(query("shop.example.com"), names).endswith(socket.inet_aton("10.0.0.10"))
    assert answer_query(query("Shop.Example.com"), names).endswith(socket.inet_aton("10.0.0.10"))
    assert answer_query(query("shop.example.com", 28), names)[3] & 15 == 0
    assert answer_query(query("other.example.com"), names)[3] & 15 == 3
    assert answer_query(b"nonsense", names) == b""


def test_what_a_name_server_answers_may_be_anything() -> None:
    name, address, question = "shop.example.com", "10.0.0.10", query("shop.example.com")
    labels = question[12:-5]
    answer = answer_query(question, {name: address})
    assert first_address(answer, len(question)) == address
    # A name written out instead of pointed to, behind a record of another kind.
    record = answer[len(question) + 2 :]
    alias = b"\xc0\x0c" + struct.pack(">HHIH", 5, 1, 60, 2) + b"\xc0\x0c"
    spelled = answer[:6] + b"\0\2" + answer[8 : len(question)] + alias + labels + b"\0" + record
    assert first_address(spelled, len(question)) == address
    assert first_address(question, len(question)) == ""
    for end in range(len(answer)):
        assert first_address(answer[:end], len(question)) in (None, "")
    assert first_address(question[:6] + b"\xff\xff" + b"\xbf" * 600, 12) is None


def test_everybody_else_lives_outside() -> None:
    plan = Plan.of(SystemSpec.of(library().systems["web-server"]))
    assert plan.own == "10.0.0.10"
    assert plan.own not in plan.outside
    assert {"10.0.0.1", "10.0.0.2", "10.0.0.12", "198.51.100.23"} <= set(plan.outside)


# -- files


def test_no_link_leads_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    root.mkdir()
    outside.write_text("secret")
    (root / "etc").mkdir()
    (root / "etc/inside").write_text("fine")
    (root / "up").symlink_to("../outside")
    (root / "absolute").symlink_to(outside)
    (root / "rooted").symlink_to("/etc/inside")
    handle = os.open(root, os.O_PATH)
    try:
        for path in ("up", "absolute", "../outside", "/etc/../../outside"):
            with pytest.raises(OSError, match=path.rpartition("/")[2]):
                open_beneath(handle, path, os.O_RDONLY)
        found = open_beneath(handle, "rooted", os.O_RDONLY)
        assert os.read(found, 10) == b"fine"
        os.close(found)
    finally:
        os.close(handle)


def test_facts_are_the_image_and_what_was_changed() -> None:
    base = {"/etc/a": "1", "/etc/b": "2", "/etc/d/x": "3", "/etc/d/y": "4"}
    picture = Picture(
        nodes={}, gone=frozenset({"/etc/b", "/etc/d/"}), digests={"/etc/a": "9", "/etc/d/z": "5"},
        firewall=("*filter", ":INPUT ACCEPT [7:420]", "-A INPUT -j DROP", "COMMIT"),
    )  # fmt: skip
    facts = lasting(base, picture)
    assert {key: value for key, value in facts.items() if key.startswith("/")} == {"/etc/a": "9", "/etc/d/z": "5"}
    counted = Picture(nodes={}, gone=frozenset(), digests={}, firewall=("*filter", ":INPUT ACCEPT [9:999]"))
    other = Picture(nodes={}, gone=frozenset(), digests={}, firewall=("*filter", ":INPUT DROP [9:999]"))
    once = Picture(nodes={}, gone=frozenset(), digests={}, firewall=("*filter", ":INPUT ACCEPT [0:0]"))
    assert lasting({}, counted) == lasting({}, once) != lasting({}, other)


def test_endless_things_are_not_read_to_their_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runners.hosts.facts.firewall_rules", lambda network: ())
    layer = tmp_path / "layer"
    (layer / "etc").mkdir(parents=True)
    with (layer / "etc/hole").open("wb") as hole:
        hole.truncate(1 << 40)
    picture = take_picture(Layers(upper=layer, lower=()), re.compile("(?!)"), -1, 0)
    assert picture.nodes["/etc/hole"].data is None
    assert "1099511627776" in picture.digests["/etc/hole"]
    line = ("python3", "/dev/zero")
    me = Process(pid=os.getpid(), inner=1, name="python3", argv=line, state="S", uid=0, rss=0, started="")
    assert program_of(me, lambda path: os.open(path, os.O_RDONLY)).endswith("+no program:0")


def test_a_program_is_read_once_for_as_long_as_it_is_the_same_file(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("one")
    line = ("python3", str(script))
    me = Process(pid=os.getpid(), inner=1, name="python3", argv=line, state="S", uid=0, rss=0, started="")
    known: Digests = {}

    def program() -> str:
        return program_of(me, lambda path: os.open(path, os.O_RDONLY), known)

    first = program()
    assert len(known) == 2
    assert program() == first
    about = script.stat()
    script.write_text("two")
    os.utime(script, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert program() != first
    assert len(known) == 3


# -- images


@pytest.mark.skipif(shutil.which("setfacl") is None, reason="there is no setfacl: apt-get install acl")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root reaches a world's files")
def test_access_lists_are_facts_and_are_put_back(tmp_path: Path) -> None:
    layer = tmp_path / "layer"
    (layer / "folder").mkdir(parents=True)
    (layer / "secret").write_bytes(b"key")
    layers, nothing = Layers(upper=layer, lower=()), re.compile("(?!)")

    def picture() -> Picture:
        return take_picture(layers, nothing, -1, 0)

    def setfacl(*words: str) -> None:
        subprocess.run(["setfacl", *words], cwd=layer, check=True)

    plain = picture()
    setfacl("-m", "u:33:-", "secret")
    setfacl("-m", "d:u:33:rx", "folder")
    listed = picture()
    assert {path for path in listed.digests if listed.digests[path] != plain.digests[path]} == {"/secret", "/folder"}
    assert listed.digests["/secret"].split(":", 3)[0] == plain.digests["/secret"].split(":", 3)[0]
    files = Files(os.getpid(), 0)
    try:
        for now, then in ((plain, listed), (listed, plain), (plain, listed)):
            for path in ("/secret", "/folder"):
                files.put(f"{layer}{path}", *then.nodes[path])
            assert (picture().digests == then.digests, now.digests == then.digests) == (True, False)
    finally:
        files.close()


def test_described_accounts_join_those_of_the_packages() -> None:
    machine = boot(SystemSpec.of(library().systems["web-server"]))
    base = {
        "etc/passwd": "root:x:0:0:root:/root:/bin/bash\nredis:x:996:996::/var/lib/redis:/bin/false\n",
        "etc/group": "root:x:0:\nadm:x:4:\nsudo:x:27:\nredis:x:996:\n",
        "etc/shadow": "root:*:1:0:99999:7:::\n",
        "etc/gshadow": "root:*::\n",
    }
    made = _merged_accounts(machine, base)
    users = {line.split(":")[0]: line.split(":") for line in made["etc/passwd"].splitlines()}
    assert users["redis"][2] == "996"
    assert users["shop"][2] not in ("996", "0")
    assert users["anna"][2:4] == ["1000", "1000"]
    assert "sudo:x:27:anna\n" in made["etc/group"]
    assert made["etc/shadow"].startswith("root:$y$")


def test_a_layer_is_the_same_bytes_each_time(tmp_path: Path) -> None:
    import tarfile

    system = library().systems["web-server"]
    base = tmp_path / "base.tar"
    with tarfile.open(base, "w") as tar:
        for name in ("passwd", "group", "shadow", "gshadow"):
            source = tmp_path / name
            source.write_text("root:x:0:0:root:/root:/bin/bash\n" if name == "passwd" else "root:x:0:\n")
            tar.add(source, f"./etc/{name}")
    for number in (1, 2):
        write_layer(system, base, tmp_path / f"{number}.tar")
    assert (tmp_path / "1.tar").read_bytes() == (tmp_path / "2.tar").read_bytes()
    with tarfile.open(tmp_path / "1.tar") as tar:
        members = {member.name: member for member in tar}
    assert members["etc/nginx/sites-enabled/.wh.default"].isfile()
    assert members["etc/shop/secret.key"].mode == 0o640
    assert members["etc/systemd/system/systemd-logind.service"].linkname == "/dev/null"
    assert stat.S_IMODE(members["opt/shop/bin/shop-server"].mode) == 0o755
    assert members["var/log/nginx/access.log"].size > 1000
    assert "etc/fstab" not in members


def test_a_system_without_an_image_says_so() -> None:
    import dataclasses

    bare = dataclasses.replace(library().systems["small"], settings={})
    with pytest.raises(AuthorError, match="has no `image`"):
        Recipe.of(bare)


def test_a_failed_module_is_seen_in_what_it_prints() -> None:
    assert has_failed(b'{"changed": false, "failed": true, "msg": "no"}')
    assert not has_failed(b'warning\n{"changed": true}\n')
    assert not has_failed(b"")


# -- the way of a request


def segment(source: int, target: int, number: int, data: bytes) -> bytes:
    tcp = struct.pack(">HHIIBBHHH", source, target, number, 0, 5 << 4, 24, 512, 0, 0)
    whole = 20 + len(tcp) + len(data)
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, whole, 1, 0, 64, 6, 0, b"\x7f\0\0\1", b"\x7f\0\0\1") + tcp + data


def test_a_packet_is_taken_apart() -> None:
    assert parse(segment(40000, 8000, 7, b"GET /") + b"padding") == Segment(40000, 8000, 7, b"GET /")
    for broken in (b"", b"\x45" * 30, segment(1, 2, 3, b"x")[:30], b"\x60" + segment(1, 2, 3, b"x")[1:]):
        assert parse(broken) is None


_LIBRARY = "ansible/module_utils/_internal/_ansiballz/_loader.py"


def module(text: str, library: str = "loaded = []\n") -> str:
    """A program as Ansible sends one: it brings a packed library, and runs with it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as pack:
        folders = _LIBRARY.split("/")[:-1]
        for depth in range(len(folders)):
            pack.writestr("/".join([*folders[: depth + 1], "__init__.py"]), "")
        pack.writestr(_LIBRARY, library)
    data = base64.b64encode(packed.getvalue()).decode()
    return f"_ANSIBALLZ_WRAPPER = True\ndict(\nzip_data='{data}',\n)\n{text}"


def test_what_ansible_said_is_told_again_with_its_library_loaded_once() -> None:
    python = ["/bin/sh", "-c", "/usr/bin/python3 && sleep 0"]
    uses = "from ansible.module_utils._internal._ansiballz import _loader\n_loader.loaded.append(1)\n"
    calls = [
        [["cat"], "given"],
        [["sh", "-c", "echo out; echo err >&2; exit 3"], ""],
        [python, module(f"{uses}print('first', len(_loader.loaded))")],
        [python, module(f"{uses}print('second', len(_loader.loaded)); raise SystemExit(4)")],
        [python, module("raise OSError('no')")],
        [["sh", "-c", "echo last"], module("print('not a module here')")],
    ]
    brought = libraries([Call((*argv,), given.encode("latin-1"), 0, False) for argv, given in calls])
    assert len(brought) == 1
    compiled = ""
    for first in (True, False):
        # The second world is given what the first one has compiled.
        said = "".join(json.dumps(line) + "\n" for line in ((brought, compiled), calls[:3], calls[3:]))
        done = subprocess.run([sys.executable, retelling.__file__], input=said, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        made, *told = map(json.loads, done.stdout.splitlines())
        assert told == [
            [[0, "given"], [3, "out\n"], [0, "first 1\n"]],
            [[4, "second 1\n"], [1, ""], [0, "last\n"]],
        ]
        assert bool(made) is first
        compiled = made


def test_what_one_world_has_compiled_is_used_in_another_one() -> None:
    text = module("from ansible.module_utils._internal._ansiballz import _loader\nprint(_loader.loaded)")
    other = module("", library="loaded = 'as compiled elsewhere'\n")

    def loaded(brings: str, compiled: str) -> tuple[str, str]:
        brought = libraries([Call(("python3",), brings.encode("latin-1"), 0, False)])
        given = [["/bin/sh", "-c", "/usr/bin/python3 && sleep 0"], text]
        said = "".join(json.dumps(line) + "\n" for line in ((brought, compiled), [given]))
        done = subprocess.run([sys.executable, retelling.__file__], input=said, capture_output=True, text=True)
        made, [[_, printed]] = map(json.loads, done.stdout.splitlines())
        return made, printed

    compiled, first = loaded(other, "")
    assert first == "as compiled elsewhere\n"
    assert loaded(text, compiled) == ("", "as compiled elsewhere\n")
    assert loaded(text, "")[1] == "[]\n"
