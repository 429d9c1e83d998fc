"""sed beside GNU sed 4.9."""

# ruff: noqa: E501 (a case is one line)

from __future__ import annotations

import pytest

from tests.runners.sim.commands.beside import assert_alike

FILES = {
    "f": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n",
    "conf": "# main\nport = 8080\nhost=localhost\n\n[db]\nport = 5432\nuser = app   \n\n; end\n",
    "nginx": "server {\n    listen 80;\n    server_name a.example.com;\n    location / {\n        proxy_pass http://127.0.0.1:3000;\n    }\n}\n",
    "p": "root:x:0:0:root:/root:/bin/bash\napp:x:1000:1000:App:/home/app:/bin/sh\n",
    "s": "hello world\nfoo bar foo\nThe Quick Brown\n  lead\ttab  \n",
    "nonl": "a b\nc",
    "script.sed": "s/one/ONE/\n# comment\n2d\n$a\\\nlast\n",
}
CASES = [
    "sed -n 3p f", "sed 3d f", "sed -n '2,4p' f", "sed '2,4d' f", "sed -n '$p' f", "sed '$d' f", "sed -n '/three/p' f",
    "sed '/t/d' f", "sed -n '/two/,/four/p' f", "sed '/two/,/four/d' f", "sed -n '2,/five/p' f", "sed -n '/eight/,$p' f",
    "sed -n '2~3p' f", "sed -n '0~4p' f", "sed -n '/two/,+2p' f", "sed -n '3,~4p' f", "sed -n '0,/one/p' f", "sed -n '1,/one/p' f",
    "sed -n '2!p' f", "sed -n '2,4!p' f", "sed '/e$/!d' f", "sed -n '5,2p' f", "sed -n '/x/,/y/p' f", "sed 2q f", "sed 2Q f", "sed '3q5' f; echo $?",
    "sed 's/e/E/' f", "sed 's/e/E/g' f", "sed 's/e/E/2' f", "sed -n 's/e/E/p' f", "sed -n 's/e/E/gp' f", "sed 's/E/x/I' f", "sed 's/e/X/2g' f",
    "sed 's/foo/[&]/g' s", "sed 's/foo/\\&/' s", "sed 's/\\(foo\\) \\(bar\\)/\\2 \\1/' s", "sed -E 's/(\\w+) (\\w+)/\\2 \\1/' s", "sed -r 's/^(.)(.*)$/\\2\\1/' s",
    "sed 's/.*/\\U&/' s", "sed 's/.*/\\L&/' s", "sed -E 's/(\\w)(\\w*)/\\u\\1\\L\\2/g' s", "sed -E 's/\\b(.)/\\u\\1/g' s", "sed 's/hello/\\U&\\E there/' s", "sed 's/The/\\l&/' s",
    "sed 's|/bin/bash|/bin/zsh|' p", "sed 's,/,_,g' p", "sed 's#:#\\n#g' p", "sed 's/:/\\t/g' p", "sed 's/a\\|b/X/g' s", "sed 's/[aeiou]//g' s", "sed 's/[[:space:]]*$//' conf",
    "sed 's/^[ \\t]*//' s", "sed 's/o*/-/g' s", "sed 's/x*/-/g' nonl", "sed 's/$/!/' s", "sed 's/^/> /' s", "sed 's/\\./,/g' nginx", "sed 's/l\\{2\\}/LL/' s", "sed -E 's/l{2}/LL/' s", "sed -E 's/(foo).*\\1/same/' s",
    "sed 's/\\bfoo\\b/X/g' s", "sed 's/\\<f/F/g' s", "sed 's/\\s\\+/_/g' s", "sed 's/\\w\\+/W/g' s", "sed 's/a.*b/X/' s", "sed 's/foo\\nbar/X/' s",
    "sed 's/port = .*/port = 9090/' conf", "sed '/^#/d;/^$/d' conf", "sed -e '/^#/d' -e '/^;/d' conf", "sed '/\\[db\\]/,/^$/s/port.*/port = 1/' conf", "sed -n '/^\\[db\\]/,/^$/{/port/p}' conf",
    "sed 's/listen 80/listen 8080/' nginx", "sed 's|http://127.0.0.1:3000|http://127.0.0.1:8000|' nginx", "sed '/location/a\\        # added' nginx", "sed '/location/i\\    # before' nginx", "sed '/listen/c\\    listen 443 ssl;' nginx",
    "sed '2a hello' f", "sed '2i hello' f", "sed '2c hello' f", "sed '2,4c hello' f", "sed '$a end' nonl", "sed '1i\\\nfirst line' f", "sed '2a\\\n  indented\\\nsecond' f", "sed 'a\\  x' nonl", "sed '2a\\\thello' f", "sed '/two/{a X\n}' f", "sed -e '1a\\' -e 'two' nonl",
    "sed y/abc/xyz/ s", "sed 'y/o /0_/' s", "sed -n '=' nonl", "sed = nonl", "sed -n '$=' f", "sed -n l s", "sed -n 'l 10' s", "sed n\\;d f", "sed -n 'n;p' f", "sed N\\;P\\;D f", "sed 'N;s/\\n/ /' f", "sed ':a;N;$!ba;s/\\n/,/g' f",
    "sed -n '1!G;h;$p' f", "sed G nonl", "sed -n 'H;${x;s/\\n/,/g;p}' f", "sed 'x;p;x' nonl", "sed '1!G;h;$!d' f", "sed '$!N;$!D' f", "sed -n '$!{h;d};H;x;p' nonl", "sed ':a;s/^\\(\\s*\\)\\s/\\1_/;ta' s", "sed 's/foo/X/;t;s/^/no: /' s", "sed 's/foo/X/;T;s/^/yes: /' s", "sed -n '/foo/bx;p;b;:x;s/foo/J/gp' s",
    "sed '/two/r nonl' f", "sed '$r nonl' nonl", "sed '1r nofile' nonl", "sed -n '/e/w out' f; cat out", "sed 's/e/E/w out' nonl; cat out", "sed -n '/one/w /dev/stdout' f", "sed '1~2d' f", "sed '1d;$d' f", "sed -s -n '$p' f nonl", "sed -n '$p' f nonl", "sed -n '1p' f nonl", "sed -z 's/\\n/,/g' f", "sed --expression='s/one/1/' f", "sed --quiet 1p f", "sed --silent --regexp-extended 's/(o)/<\\1>/p' f",
    "sed -f script.sed f", "sed -i 's/one/1/' f; cat f", "sed -i.bak 's/one/1/' f; cat f.bak f | head -12", "sed -i '2d' f nonl; cat f nonl", "sed -i -e '$a x' conf && tail -1 conf", "sed --in-place=.o s/a/b/ p; cat p p.o", "chmod 640 f; sed -i 1d f; stat -c %a f", "sed -n -i p f; cat f | head -1", "sed -i s/x/y/ nofile", "sed -i 's/[' f",
    "sed s/a/b f", "sed 's/a/b/q' f", "sed 'k' f", "sed '/a' f", "sed '2,' f", "sed 's/(/x' f", "sed 's/\\(/x/' f", "sed -E 's/(/x/' f", "sed 's/a/\\1/' f", "sed '{p' f", "sed 'p}' f", "sed b f", "sed 'b nolabel' f", "sed y/abc/x/ f", "sed 'y/a/b' f", "sed", "sed -n", "sed p nofile", "sed -Z p f", "sed 'a' f", "sed 'r' f", "sed ': ' f", "sed '1,2=' nonl", "sed '3!s/e/E/' f", "sed 'dp' f", "sed '1!!p' f", "sed 's/a/b/gg' f", "sed 's/a/b/0' f", "sed '0p' f", "sed '0,5p' f", "sed -n 1,3p\\;5p f", "sed 's/a/b/;' nonl", "sed ' s/a/b/ ; s/b/c/ ' nonl", "sed -n '/o/{/w/p}' f", "sed -n '/o/{ /w/! p; }' f", "sed '/^$/N;/\\n$/D' conf", "sed 's/\\//|/g' p", "sed '\\,/bin/sh,d' p", "sed -n '\\%root%p' p", "sed 's/a/&\\\n/' nonl", "sed --version | head -1", "sed --help | head -1; true", "echo abc | sed 's/b/\\x41/'", "echo 'a.b' | sed 's/a\\x2eb/X/'", "echo aXb | sed 's/x/-/i'", "printf 'a\\nb\\n' | sed 'N;N;s/x/y/'", "printf 'a\\nb\\nc\\n' | sed '$!N;s/\\n/-/'", "sed 10q f f | wc -l", "sed '/one/I,+1d' f", "sed '/ONE/Id' f", "sed 'N;l;D' nonl", "sed -u 1q f", "sed 's/\\(.*\\)o/\\1X/' s", "sed -E 's/^([^:]*):.*:(.*)$/\\1 \\2/' p", "sed -E 's/(a|b)+/X/g' s", "sed -E 's/o?/_/2' s", "sed 's/.\\{3\\}/&\\n/g' nonl", "sed '1~3{N;N;s/\\n/+/g}' f", "sed 'e echo hi' nonl", "sed '1e echo first' nonl", "sed 's/^a.*/echo cmd/e' nonl", "sed 'F' nonl", "sed 'z;s/^$/empty/' nonl", "sed -n '/one/,/one/p' f", "sed -n '2,2p' f", "sed '2{h;d};4G' f", "sed 's/a/x\\ty/' nonl", "sed -e 'i\\' -e '  text' nonl", "sed W nonl", "sed '$!d' f", "sed -n 'x;n;p' f", "sed '5,$d' f", "sed 's/[/]/|/' p", "sed 's/[^,]*,//' p", "sed -n '/^a/!p' p", "sed 's/:.*//' p", "sed 's/.*://' p",
]  # fmt: skip


@pytest.mark.parametrize("line", CASES)
def test_like_gnu_sed(line: str) -> None:
    assert_alike(line, FILES)
