"""diff, comm, join, tar, gzip, xz, checksums, dumps, dd, split and their like beside the real ones."""

# ruff: noqa: E501 (a case is one line)

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest

from runners.sim.budget import Budget
from runners.sim.commands.diff_styles import Side, contextual, normal, side_by_side, unified
from runners.sim.commands.diffing import changes
from tests.runners.sim.commands.beside import assert_alike

FILES = {
    "a": "one\ntwo\nthree\nfour\nfive\n", "b": "one\n2\nthree\nfour\nfive\nsix\n", "nonl": "a\nb", "nl": "a\nb\n",
    "blank": "a\n\nb\n", "crlf": "a\r\nb\r\n", "loose": "A\n  b \n", "bin": b"a\0b\xff\n", "zeros": bytes(200), "s1": "a\nb\nc\n", "s2": "b\nc\nd\n",
    "j1": "1 a\n2 b\n3 c\n", "j2": "1 X\n3 Y\n4 Z\n", "u": "b\na\n", "c1": "user:uid\nroot:0\napp:1000\n", "c2": "user:shell\nroot:/bin/bash\n",
    "d1/x": "1\n", "d1/only": "o\n", "d1/sub/deep": "q\n", "d1/same": "s\n", "d2/x": "2\n", "d2/same": "s\n", "d2/sub/deep": "r\n", "d2/new": "n\n",
    "t/f1": "hello\n", "t/f2": "world\n" * 50, "t/sub/f3": "deep\n", "t/ln": "-> f1", "big": "line of text number\n" * 400, "sh": "#!/bin/sh\necho hi\n", "py": "#!/usr/bin/env python3\nprint(1)\n", "utf8": "café\n", "empty": "",
    "pem": "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n", "json": '{"a": 1}\n', "xml": '<?xml version="1.0"?>\n<a/>\n', "html": "<!DOCTYPE html>\n<html></html>\n", "latin": b"caf\xe9\n",
}  # fmt: skip
COMPARE = [
    "diff a b", "diff -u --label a --label b a b", "diff a a", "diff -q a b", "diff -s a a", "diff --brief a a", "diff -y a b", "diff -y -W 60 a b", "diff -y --suppress-common-lines a b", "diff -c --label a --label b a b", "diff -u a b | tail -n +3", "diff -U0 a b | tail -n +3", "diff -U1 a b | tail -n +3", "diff nonl nl", "diff -u nonl nl | tail -n +3", "diff nl nonl", "diff -c nonl nl | tail -n +3",
    "diff -B blank nl", "diff blank nl", "diff -i -w loose nl", "diff -b loose nl", "diff --strip-trailing-cr crlf nl", "diff -Z crlf nl", "diff crlf nl", "diff bin nl", "diff -q bin nl", "diff -a bin nl", "diff d1 d2", "diff -r d1 d2", "diff -rq d1 d2", "diff -ru d1 d2 | grep -v '^[-+][-+][-+]'", "diff -rN d1 d2", "diff -x only -x new d1 d2", "diff a d1", "diff d1 d2/x", "diff x d1", "diff nope a", "diff -N nope a", "diff a", "diff", "diff a b c", "diff --zzz a b", "diff - a < b", "diff a - < a", "diff <(echo 1) <(echo 2)", "diff <(sort u) <(sort nl)", "diff -I 2 a b", "diff -u empty a | tail -n +3", "diff a empty", "diff -U 2 a b | head -0", "diff -E a b", "diff -r a b", "diff -U x a b", "diff -d a b", "diff --normal a b", "diff --color=never a b", "diff -rs d1 d2", "diff --version | head -1",
    "cmp a b", "cmp a a", "cmp -l a b", "cmp -s a b", "cmp a nope", "cmp s1 nonl", "cmp nonl nl", "cmp -b a b", "cmp -n 3 a b", "cmp empty a", "cmp -i 2 a b", "cmp", "cmp a b 1 2", "cmp -bl a b", "cmp - a < b",
    "comm s1 s2", "comm -12 s1 s2", "comm -3 s1 s2", "comm -23 s1 s2", "comm -13 s1 s2", "comm --total s1 s2", "comm -1 s1 s2", "comm --output-delimiter=: s1 s2", "comm u nl", "comm s1 nope", "comm s1", "comm --nocheck-order u nl", "comm --check-order u nl", "comm -123 s1 s2", "comm <(sort u) s1",
    "join j1 j2", "join -a1 j1 j2", "join -a1 -a2 j1 j2", "join -v1 j1 j2", "join -v2 j1 j2", "join -a1 -a2 -e - -o 0,1.2,2.2 j1 j2", "join -t: c1 c2", "join -t: --header c1 c2", "join -1 2 -2 1 u s1", "join -j 2 j1 j1", "join -o 1.1,2.2 j1 j2", "join j1 nope", "join j1", "join -o auto -e NA -a1 -a2 j1 j2", "join u s1", "join -i s1 s2", "join -1 x j1 j2", "join -t '' j1 j2",
]  # fmt: skip
PACK = [
    "tar -cf o.tar t; tar -tf o.tar", "tar cvf o.tar t", "tar -czf o.tgz t && tar -tzf o.tgz", "tar -cJf o.txz t && tar -tf o.txz", "tar -czvf o.tgz t/f1 t/f2", "tar -cf o.tar t; mkdir x; tar -xf o.tar -C x; find x | sort; cat x/t/f1", "tar -cf o.tar t; mkdir x; tar -xvf o.tar -C x", "tar -cf o.tar -C t f1 f2; tar -tf o.tar", "tar -cf o.tar --exclude='*.log' --exclude=sub t; tar tf o.tar", "tar -cf o.tar t; tar -xOf o.tar t/f1", "tar -cf o.tar t; tar -tvf o.tar | awk '{print $1, $3, $6, $7, $8}'", "tar -cf - t | tar -tf -", "tar -czf - t | gzip -dc | tar -tf - t/f1", "tar -cf o.tar t; rm -r t; tar -xf o.tar t/f1; find t", "tar -cf o.tar t; mkdir y; tar -xf o.tar --strip-components=1 -C y; find y | sort", "tar -tf nope.tar", "tar -xf a", "tar -cf o.tar nope", "tar", "tar -cf o.tar", "tar -cf o.tar a; tar -rf o.tar b; tar -tf o.tar", "tar -cf o.tar t; tar -tf o.tar nothere", "tar -xzf a", "tar -cf o.tar t; tar --list --file=o.tar", "tar -cf o.tar /etc/passwd; tar -tf o.tar", "tar -cf o.tar ./t; tar tf o.tar", "tar -xf o.tar -C nope", "tar --version | head -1", "tar caf o.tar.gz t && file o.tar.gz | cut -d, -f1", "chmod 600 t/f1; tar -cpf o.tar t; rm -r t; tar -xpf o.tar; stat -c %a t/f1",
    "gzip big; ls big*; gzip -d big.gz; head -1 big", "gzip -k a; ls a*", "gzip -c a | zcat", "gzip < a | gunzip", "gzip a; zcat a.gz", "gzip a; gunzip a.gz; cat a", "gzip -9 -v big 2>&1 | cut -d: -f1", "gunzip a", "gunzip nope.gz", "gzip nope", "gzip t", "gzip a; gzip a.gz", "gzip a; gzip -l a.gz | head -1", "gzip a; gzip -t a.gz; echo $?", "echo junk > j.gz; gunzip j.gz", "zcat a", "gzip -kf a; gzip -k a < /dev/null", "gzip -r t; find t | sort", "gzip a b; ls *.gz", "zgrep two a; gzip a; zgrep two a.gz", "gzip a; zgrep -c o a.gz b", "gzip -S .z a; ls a*", "gzip -dc a.gz", "gzip --version | head -1", "zcat nope", "gzip a; file a.gz | cut -d, -f1", "chmod 640 a; gzip a; stat -c %a a.gz",
    "xz a; ls a*; xz -d a.xz; cat a", "xz -k a; xzcat a.xz", "xz -c a | xz -dc", "unxz a", "xz nope", "xz -t a.xz", "xz a; xz a.xz", "echo x | xz | unxz", "xz -dc < a",
]  # fmt: skip
SUMS = [
    "md5sum a", "md5sum a nope", "md5sum < a", "sha1sum a b", "sha256sum a", "sha512sum a", "sha224sum a; sha384sum a; b2sum a", "md5sum a b > s; md5sum -c s", "md5sum a b > s; echo x > b; md5sum -c s", "md5sum a b > s; echo x > b; md5sum --status -c s", "md5sum a b > s; echo x > b; md5sum --quiet -c s", "md5sum a b > s; rm b; md5sum -c s", "md5sum a b > s; rm b; md5sum --ignore-missing -c s", "md5sum -c j1", "md5sum -b a", "md5sum --tag a", "md5sum -z a", "sha256sum -w -c j1", "md5sum .", "md5sum -c nope", "md5sum --status a", "cat a | md5sum -", "sha256sum a | sha256sum -c", "sha256sum a | cut -c1-8", "md5sum --tag a b > s; md5sum -c s", "md5sum a > s; echo junk >> s; md5sum -c s; md5sum --strict -c s",
    "base64 a", "base64 -w 5 a", "base64 -w0 a", "base64 a | base64 -d", "echo 'aGV$' | base64 -d", "echo 'aG V$sbG8K' | base64 -di", "base64 nope", "base32 a | base32 -d", "base64 -w x a", "base64 a b", "base64 zeros", "echo aGk | base64 -d", "echo aGk= | base64 --decode", "printf x | base64", "base64 empty", "echo '!!' | base64 -d",
    "od -c a", "od a", "od -x a", "od -An -tx1 a", "od -A d -t x1z a", "od -t d2 a", "od -b a", "od -tc -tx1 a", "od -c zeros", "od -v -t x1 zeros", "od -N 3 -j 2 -c a", "od -An -td4 -N4 a", "od -tx4 a", "od -to1 a", "od -td1 a", "od -tu1 -w4 a", "od -ta a", "od -Ax -tx1 a", "od nope", "od -t f4 a", "od -t q a", "od -w3 -c a", "od -s a", "od -tx8 a", "od -j 1000 a", "od -A q a", "printf 'caf\\303\\251\\001\\033' | od -c", "echo hi | od -An -vtx1", "od -tx2 -tc a", "od -d a", "od -i a", "od -l a", "od empty",
    "xxd a", "xxd -p a", "xxd -l 3 a", "xxd -s 2 a", "xxd -c 8 a", "xxd -g 1 a", "xxd -u a", "xxd -b nonl", "xxd a | xxd -r", "echo 68656c6c6f | xxd -r -p", "xxd -i a", "xxd nope", "xxd -ps -c 4 a", "xxd -e a", "xxd -a zeros", "xxd -g 4 -c 12 a", "xxd -p big | xxd -r -p | md5sum", "xxd bin", "echo hi | xxd -", "xxd -s -4 a",
    "hexdump a", "hexdump -C a", "hexdump -n 3 -C a", "hexdump -c a", "hexdump -s 2 -C a", "hexdump -C zeros", "hexdump -b a", "hexdump -d a", "hexdump -x a", "hexdump -o a", "hexdump nope", "hd a", "hexdump nonl", "hexdump -C empty", "hexdump -v zeros", "hexdump -C < bin",
]  # fmt: skip
SHAPE = [
    "truncate -s 5 a; cat a", "truncate -s +3 a; wc -c a", "truncate -s -3 a; wc -c a", "truncate -s %8 a; wc -c a", "truncate -s /7 a; wc -c a", "truncate -s '<3' a; wc -c a", "truncate -s '>30' a; wc -c a", "truncate -s 1K n; stat -c %s n", "truncate -s 0 a; cat a", "truncate a", "truncate -s 5", "truncate -s x a", "truncate -c -s 5 n; ls n", "truncate -r b a; wc -c a", "truncate -s 5 /nonexist/x", "truncate -s 5 .", "truncate -s -100 a; wc -c a", "truncate -r b -s +5 a; wc -c a", "truncate --size=1M n; stat -c %s n", "truncate -s 10M n m; stat -c %s n m",
    "fallocate -l 1M f; stat -c %s f", "fallocate f", "fallocate -l 1M", "fallocate -l x f", "fallocate -o 10 -l 20 f; stat -c %s f", "fallocate -l 5 /nonexist/x", "fallocate -l 0 f", "fallocate -v -l 10 f", "fallocate -l 10 f g", "fallocate -l 2 a; wc -c a", "fallocate --length 4KiB f; stat -c %s f",
    "seq 25 | split -l 10 -; head x*", "split -n 3 a; head x*", "split -b 10 a; ls x*", "split -d -l 2 a part_; ls part*", "split -d -a 3 -l 2 a --additional-suffix=.txt q_; ls q_*", "split -C 10 a; head x*", "split --verbose -l 2 a", "split -n l/3 a; head x*", "split --filter='wc -l' -l 2 a", "split -n 2/3 a", "split -n r/2 a; head x*", "split -n l/2/2 a", "split -l 0 a", "split nope", "split -a 1 -b 1 big; ls | wc -l", "split -l 10 -n 3 a", "split -b x a", "split -x -l 1 a; ls x*", "split --numeric-suffixes=5 -l 2 a; ls x*", "split a b c", "split -b 1K big; ls x* | wc -l; cat x* | cmp - big", "split -e -n 9 nonl; ls x*", "seq 700 | split -l 1 -; ls x* | tail -3",
    "dd if=a of=o status=none; cat o", "dd if=a of=o 2>&1 | head -2", "dd if=a bs=1 skip=2 count=3 status=none", "dd if=a of=b bs=1 seek=3 conv=notrunc status=none; cat b", "dd if=a conv=ucase status=none", "dd if=nope", "dd of=/nonexist/x if=a", "dd bs=x", "dd foo=1", "dd foo", "dd if=a bs=0", "dd if=/dev/zero of=sp bs=1 count=0 seek=100 status=none; stat -c %s sp", "echo hi | dd status=none", "dd if=/dev/zero of=/dev/full bs=1k count=2", "dd if=. of=x", "dd if=a of=.", "dd if=a ibs=3 obs=5 2>&1 | head -7", "dd if=a conv=swab status=none", "dd if=a conv=bad", "dd if=/dev/zero of=z bs=1M count=3 2>&1 | head -2; stat -c %s z", "dd if=/dev/zero of=z bs=1024 count=3 status=none; od z", "dd if=a of=b conv=excl", "dd if=a of=nn conv=nocreat", "dd if=a bs=5 conv=sync status=none | od -c", "dd skip=1 bs=5 if=a status=none", "dd if=/dev/zero bs=1M count=2 status=none | wc -c", "dd if=/dev/zero of=z bs=4k count=2 2>&1 | sed 's/copied.*//'", "dd if=/dev/zero of=z bs=1500000 count=1 2>&1 | sed 's/copied.*//'", "dd if=a of=o oflag=append conv=notrunc status=none; cat o", "dd if=a iflag=foo", "dd if=a count=8 iflag=count_bytes status=none", "dd if=a status=noxfer of=/dev/null",
    "file a", "file nonl", "file sh", "file py", "file empty", "file t", "file t/ln", "file nope", "file -b a", "file bin", "file pem", "file utf8", "file crlf", "file json", "file -i a", "file --mime-type a t", "file a b t", "file -L t/ln", "file /dev/null", "file xml", "file html", "file latin", "file zeros", "file -b --mime-type json", "tar -cf o.tar a; file o.tar",
]  # fmt: skip


@pytest.mark.parametrize("line", COMPARE)
def test_comparing(line: str) -> None:
    assert_alike(line, FILES)


@pytest.mark.parametrize("line", PACK)
def test_packing(line: str) -> None:
    # What is packed and listed first is up to the file system's order of a folder.
    assert_alike(line, FILES, ordered=False)


@pytest.mark.parametrize("line", SUMS)
def test_sums_and_dumps(line: str) -> None:
    assert_alike(line, FILES)


@pytest.mark.parametrize("line", SHAPE)
def test_sizes_and_pieces(line: str) -> None:
    assert_alike(line, FILES)


def _edited(chance: random.Random) -> tuple[list[bytes], list[bytes]]:
    """Some lines of a small alphabet, and the same after a few edits: many scripts are equally short."""
    letters = chance.choice([3, 8, 20])
    one = [b"%d\n" % chance.randrange(letters) for _ in range(chance.randrange(1, 25))]
    other = list(one)
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(other) + 1)
        action = chance.randrange(3)
        if action == 0 or place == len(other):
            other.insert(place, b"%d\n" % chance.randrange(letters))
        elif action == 1:
            other.pop(place)
        else:
            other[place] = b"%d\n" % chance.randrange(letters)
    return one, other


@pytest.mark.parametrize("seed", range(60))
def test_diff_chooses_among_equal_scripts_as_gnu_does(seed: int, tmp_path: Path) -> None:
    one, other = _edited(random.Random(seed))
    (tmp_path / "a").write_bytes(b"".join(one))
    (tmp_path / "b").write_bytes(b"".join(other))
    first, second = Side(one, b"a"), Side(other, b"b")
    for option, horizon in (("--normal", 0), ("-u", 3), ("-c", 3), ("-y", 0)):
        script = changes(one, other, Budget(10**6), horizon)
        ours = {
            "--normal": lambda script: normal(first, second, script),
            "-u": lambda script: unified(first, second, script, 3),
            "-c": lambda script: contextual(first, second, script, 3),
            "-y": lambda script: side_by_side(first, second, script, 130, True),
        }[option](script)
        command = ["diff", option, *(["--label", "a", "--label", "b"] if option in ("-u", "-c") else []), "a", "b"]
        theirs = subprocess.run(command, cwd=tmp_path, capture_output=True, check=False).stdout
        assert ours == theirs or (one == other and not theirs), option
