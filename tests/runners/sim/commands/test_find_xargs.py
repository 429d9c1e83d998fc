"""find and xargs beside GNU findutils 4.9."""

# ruff: noqa: E501 (a case is one line)

from __future__ import annotations

import pytest

from tests.runners.sim.commands.beside import assert_alike

FILES = {
    "d/a.txt": "hello\n", "d/b.log": "x" * 3000, "d/c d.txt": "space\n", "d/sub/deep.txt": "deep\n", "d/sub/.hidden": "h\n",
    "d/sub/more/z.conf": "z=1\n", "d/empty": "", "d/emptydir": None, "d/link": "-> a.txt", "d/broken": "-> nowhere", "d/dirlink": "-> sub",
    "d/B.TXT": "upper\n", "list": "a\nb c\nd\n", "quoted": "'a b' \"c d\" e\\ f\n",
}  # fmt: skip
_TREE = "chmod 644 d/*.* d/empty; chmod 755 d d/sub d/sub/more d/emptydir; chmod 600 d/sub/deep.txt; chmod 4755 d/b.log; ln d/a.txt d/hard; "
FIND = [
    "find d", "find d -name '*.txt'", "find d -iname '*.txt'", "find d -type f", "find d -type d", "find d -type l", "find d -type f,l",
    "find d -maxdepth 1", "find d -mindepth 2", "find d -maxdepth 1 -type f", "find d -mindepth 1 -maxdepth 2 -name 'd*'", "find d -empty", "find d -type f -empty", "find d -type d -empty",
    "find d -size +2k", "find d -size -2k -type f", "find d -size 1k", "find d -size +2000c", "find d -size 6c", "find d -size +1M", "find d -size 0", "find d -size -1M -type f", "find d -size 6b", "find d -size +5",
    "find d -path '*sub*'", "find d -path d/sub -prune -o -print", "find d -path d/sub -prune -o -type f -print", "find d -name sub -prune", "find d -not -name '*.txt'", "find d ! -name '*.txt' -type f", "find d -name '*.txt' -o -name '*.log'", "find d \\( -name '*.txt' -o -name '*.log' \\) -type f", "find d -name '*.txt' -a -size -1k",
    "find d -perm 600", "find d -perm -600 -type f", "find d -perm /4000", "find d -perm -u=w,g=r -type f", "find d -perm -4000", "find d -perm /o+w", "find d -links 2 -type f", "find d -links +1 -type f", "find d -samefile d/a.txt", "find d -user root -name a.txt", "find d -group root -name a.txt", "find d -uid 0 -name empty", "find d -nouser", "find d -nogroup", "find d -user nosuch",
    "find d -mtime -1 -name a.txt", "find d -mtime +1", "find d -mmin -60 -name a.txt", "find d -mmin +60", "find d -mtime 0 -name empty", "find d -ctime -1 -name empty", "touch -d '10 days ago' d/a.txt; find d -mtime +7", "touch -d '2 hours ago' d/a.txt; find d -mmin +90", "touch -d '2001-01-01' d/a.txt; find d -not -newermt 2002-01-01", "touch -d '1 hour ago' d/a.txt; find d/a.txt d/empty -newer d/a.txt",
    "find d -regex '.*/[ab]\\..*'", "find d -regextype posix-extended -regex '.*/(a|b)\\.[a-z]+'", "find d -iregex '.*\\.TXT'", "find -L d -type f -name 'deep*'", "find -L d -type l", "find d -lname '*.txt'", "find -H d/dirlink", "find d/dirlink", "find d/dirlink/", "find d -xtype l", "find d -readable -name a.txt", "find d -executable -type f", "find d -writable -name empty", "find d -inum 999999999", "find d -wholename 'd/a*'", "find d -true -name a.txt", "find d -false",
    "find d -type f -print0 | tr '\\0' '\\n'", "find d -name a.txt -printf '%p %f %h %s %y %m %u %g %d %P\\n'", "find d -type l -printf '%p -> %l\\n'", "find d -type f -printf '%f\\n'", "find d -printf '%y %d %p\\n'", "find d -name a.txt -printf '%M %n %U %G %k %%\\t|\\n'", "find d -name a.txt -printf '[%10f][%-10f]\\n'", "find d -maxdepth 1 -printf '%f\\0' | tr '\\0' '\\n'", "find d -name a.txt -printf '%H|%#m|%i\\n' | cut -d'|' -f1,2", "find d -name a.txt -fprint out; cat out", "find d -depth", "find d -depth -name '*d*'", "find d -name '*.txt' -quit", "find d -name a.txt -print -quit",
    "find d -name '*.txt' -exec echo {} \\;", "find d -name '*.txt' -exec echo got {} and {} \\;", "find d -name '*.txt' -exec echo {} +", "find d -name a.txt -exec cat {} \\; -print", "find d -type f -exec test -s {} \\; -print", "find d -type f -exec false {} \\; -print", "find d -name a.txt -execdir echo {} \\;", "find d -name a.txt -exec nosuchcmd {} \\;", "find d -name '*.txt' -exec sh -c 'echo $1' _ {} \\;", "find d -name '*.txt' -exec grep -l hello {} +", "find d -type f -exec false {} +; echo $?", "find d -name '*.txt' -exec wc -c {} +",
    "find d -name '*.txt' -delete; find d", "find d -type f -delete; find d", "find d/sub -delete; ls d", "find d -name sub -delete", "find d -empty -delete; find d", "find d -type f -name '*.log' -exec rm {} \\; ; ls d", "find d -type f | wc -l", "find d -type f -ls | awk '{print $3, $4, $5, $6, $7, $11}'", "find d -name a.txt -ok echo {} \\; </dev/null",
    "find nope", "find d nope -name a.txt", "find d -name", "find d -foo", "find d -type x", "find d -size x", "find d -maxdepth x", "find d -maxdepth", "find d -exec echo {}", "find d -exec", "find d \\( -name a", "find d -name a \\)", "find d -mtime x", "find d -perm zzz", "find d -newer nope", "find d -printf", "find d -o", "find d -not", "find d -name a -o", "find d *.txt", "find d -type f -maxdepth 1 | wc -l", "find", "find . -name a.txt", "find ./d/ -name a.txt", "find d/ -maxdepth 1 -name 'a*'", "find d//sub", "find -name a.txt", "find d list -type f -name 'l*'", "find . -path './d/*' -prune -o -name list -print", "find d -name '[ab].*'", "find d -name '?.txt'", "find d -name '.*'", "find d -name 'c d*'", "find --version | head -1", "find d -regex 'a.txt'", "find d -daystart -mtime 0 -name empty", "find d -size +1 -size -100 -type f", "find d -type f -size -10c -name '*.t*' -print", "find d -xdev -name a.txt", "find d -mount -name a.txt", "find / -maxdepth 1 -name etc", "find /etc/passwd", "find /nonexist /etc/passwd; echo $?", "find d -noleaf -name empty", "find d -print -name a.txt", "find d -name a.txt -print -print", "find d -exec echo a \\; -quit", "find d -name '*.txt' | sort", "find d -name '*.txt' -print0 | xargs -0 ls", "find d -name '*.txt' -print0 | xargs -0 -n1 basename", "find d -name '*.txt' | xargs ls 2>/dev/null | wc -l", "find d -type f -print0 | xargs -0 cat | wc -c", "find d -name '*.log' | xargs -I{} cp {} {}.bak; ls d", "find d -name '*.txt' -print0 | xargs -0 -I% echo '<%>'",
]  # fmt: skip
XARGS = [
    "echo a b c | xargs", "xargs -n1 < list", "xargs -I{} echo '<{}>' < list", "xargs -L1 echo X < list", "printf 'a\\0b c\\0' | xargs -0 -n1 echo", "xargs echo </dev/null", "xargs -r echo </dev/null", "echo a b | xargs -t echo hi", "xargs -n1 < quoted",
    "echo \"it's\" | xargs", "echo a | xargs false", "echo a | xargs sh -c 'exit 255'", "echo a | xargs nocmd", "echo a | xargs /etc/passwd", "echo a:b:c | xargs -d: -n1 echo", "seq 5 | xargs -n2 echo", "seq 5 | xargs -P2 -n2 echo | sort", "seq 3 | xargs -n2 sh -c 'echo $0 $1'", "printf 'x\\ny\\n' | xargs -i echo {}-{}", "echo a | xargs -Z", "echo a | xargs -n x", "echo a | xargs -n 0", "echo a b c d | xargs -s 10 echo", "printf 'a b \\nc\\n' | xargs -L1", "echo a | xargs -a /nofile", "xargs -a list echo", "printf 'a\\n\\nb\\n' | xargs -I% echo [%]", "printf '  lead trail  \\n' | xargs -I{} echo '[{}]'", "printf 'a\\nEOF\\nb\\n' | xargs -E EOF echo", "echo a b | xargs --verbose -n1 echo", "echo 'a\\' | xargs", "printf 'a\"b c\"d\\n' | xargs -n1", "printf 'a\\n' | xargs -n2 -I{} echo {}", "printf 'a\\nb\\n' | xargs -d '\\n' echo", "printf 'a\\nb' | xargs -0 echo", "echo a b | xargs sh -c 'kill -9 $$'", "seq 3 | xargs -I{} sh -c 'test {} = 2 && exit 255; echo {}'", "seq 3 | xargs -n1 sh -c 'test $0 != 2'", "echo a | xargs -x -n 1 -s 5 echo", "printf 'a\\\\nb' | xargs", "echo | xargs echo x", "echo a | xargs --max-args=1 --no-run-if-empty echo", "echo a b c | xargs -n1 -I{} echo {}", "echo 'a b' | xargs -I{} -d ' ' echo {}", "seq 10 | xargs", "seq 3 | xargs -I N echo N.N", "ls d | xargs -n1 echo file:", "echo d/a.txt d/empty | xargs wc -c", "echo a | xargs -I{} sh -c 'echo {} | tr a b'", "printf '1\\n2\\n' | xargs -I{} touch f{}; ls", "seq 1000 | xargs -n 100 echo | wc -l", "seq 3 | xargs -n1 -t true",
]  # fmt: skip


@pytest.mark.parametrize("line", FIND)
def test_like_gnu_find(line: str) -> None:
    # A directory's order is its file system's.
    assert_alike(_TREE + line, FILES, ordered=False)


@pytest.mark.parametrize("line", XARGS)
def test_like_gnu_xargs(line: str) -> None:
    assert_alike(line, FILES)
