"""awk beside mawk 1.3.4, the awk of Debian 12."""

# ruff: noqa: E501 (a case is one line)
from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.runners.sim.commands.beside import assert_alike

FILES = {
    "p": (
        "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n"
        "www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin\napp:x:1000:1000:App,,,:/home/app:/bin/bash\n"
    ),
    "log": (
        '10.0.0.1 - - [10/Oct/2025:13:55:36 +0000] "GET /index.html HTTP/1.1" 200 2326 "-" "curl/7.88.1" 0.012\n'
        '10.0.0.2 - - [10/Oct/2025:13:55:37 +0000] "POST /api/login HTTP/1.1" 401 12 "-" "Mozilla/5.0" 0.304\n'
        '10.0.0.1 - - [10/Oct/2025:13:56:01 +0000] "GET /api/items?x=1 HTTP/1.1" 500 0 "-" "curl/7.88.1" 1.5\n'
        '192.168.7.44 - - [10/Oct/2025:14:00:00 +0000] "GET / HTTP/1.1" 502 157 "-" "Wget" 60.001\n'
        '10.0.0.3 - - [10/Oct/2025:14:00:05 +0000] "DELETE /x HTTP/1.1" 404 9 "-" "-" 0\n'
    ),
    "n": "3\n10\n7\n-2\n4.5\nabc\n\n10\n",
    "t": "name\tqty\tprice\nbolt\t10\t0.25\nnut\t7\t1.5\nlong name\t1\t100\n",
    "w": "  the quick  brown\tfox \n\njumps over\nthe lazy dog\n",
    "para": "a b\nc d\n\n\ne f\ng\n\nlast\n",
    "df": (
        "Filesystem     1K-blocks    Used Available Use% Mounted on\n/dev/vda1       20511312 8123456  11322896  42% /\n"
        "tmpfs             402868    1028    401840   1% /run\n/dev/vdb1        5095040 4830208         0 100% /var/log\n"
    ),
    "conf": "# comment\nport = 8080\nhost=localhost\n\n[db]\nport = 5432\n  user = app\n",
    "crlf": "a b\r\nc d\r\n",
    "nonl": "x y\nz",
    "prog.awk": '# a program\nBEGIN { FS = ":" }\n{ n++ }\nEND { print n }\n',
}

ADMIN = [
    "awk '{print $1}' log",
    "awk -F: '{print $1, $NF}' p",
    "awk -F: '$3 >= 1000 {print $1}' p",
    "awk -F: -v OFS=, '{print $1,$3}' p",
    "awk 'END{print NR}' log",
    "awk '{sum += $1} END {print sum, sum/NR}' n",
    "awk '{c[$9]++} END {for (k in c) print k, c[k]}' log",
    "awk '{c[$1]++} END {for (k in c) print c[k], k}' log | sort -rn",
    "awk '$9 >= 500' log",
    "awk '$9 ~ /^5/ {print $7}' log",
    "awk '{print $NF}' log | sort -n | tail -1",
    "awk -F'\"' '{print $2}' log",
    "awk -F'[][]' '{print $2}' log",
    'awk \'{split($4, t, ":"); print t[2]":"t[3]}\' log',
    "awk 'NR>1 {print $5+0, $6}' df",
    "awk 'NR>1 && $5+0 > 90 {print $6 \" is \" $5}' df",
    "awk 'NR==2{print $4}' df",
    'awk \'$6 == "/" {gsub(/%/, "", $5); print $5}\' df',
    "awk '/^[^#]/' conf",
    "awk '!/^#/ && NF' conf",
    "awk -F' *= *' '/port/ {print $2}' conf",
    "awk -F= '/^port/ {gsub(/ /, \"\", $2); print $2; exit}' conf",
    "awk '/\\[db\\]/,0' conf",
    "awk '/\\[db\\]/{f=1;next} f && /port/{print $3}' conf",
    "awk 'length > 60' log",
    "awk '{print length}' w",
    "awk 'NF' w",
    "awk '{$1=$1}1' w",
    "awk '{$1=\"\"; print substr($0,2)}' log | head -2",
    "awk '!seen[$0]++' n",
    "awk '{a[NR]=$0} END{for(i=NR;i>0;i--) print a[i]}' n",
    "awk 'NR%2==0' n",
    "awk 'NR==FNR{a[$1];next} $1 in a' n n",
    "awk -F'\\t' '{print $2}' t",
    "awk -F'\\t' 'NR>1{t+=$2*$3} END{printf \"%.2f\\n\", t}' t",
    'awk -F"\\t" \'BEGIN{OFS="|"} {$1=$1; print}\' t',
    'awk \'BEGIN{RS=""} {print NR": "$1, NF}\' para',
    'awk \'BEGIN{RS="";FS="\\n"} {print $1"|"$2}\' para',
    "awk -v RS= '{print $0 \"--\"}' para",
    "awk 'BEGIN{RS=\"[ \\n]+\"} {print NR, $0}' w",
    "awk '{print NR\": \"$0}' conf nonl",
    "awk '{print FILENAME, FNR, NR}' nonl crlf",
    "awk '{print $2}' crlf | od -c",
    "awk '{printf \"%-15s %6d\\n\", $1, $10}' log",
    'awk \'{printf "%s ", $1} END {print ""}\' log',
    "awk 'max==\"\" || $1>max {max=$1} END{print max}' n",
    "awk 'NR==1{m=$1} $1<m{m=$1} END{print m}' n",
    "awk '{ $NF=\"\"; print }' w",
    "awk '{print $(NF-1)}' log",
    "awk 'BEGIN{while((getline l < \"conf\")>0) n++; print n}'",
    "awk 'BEGIN{\"echo hi there\" | getline x; print x; print length(x)}'",
    'awk \'{print > "out_" NR ".txt"} END{close("out_1.txt")}\' nonl; cat out_1.txt out_2.txt',
    "awk '{print $1 | \"sort -u\"}' log",
    "awk '{print | \"cat 1>&2\"}' nonl",
    "awk '{print toupper($1), tolower($2)}' w",
    "awk -f prog.awk p",
    "awk '/GET/{g++} /POST/{p++} END{print g+0, p+0, d+0}' log",
    "awk '{h[substr($4,14,2)]++} END{for(i in h) print i, h[i]}' log",
    "awk '$NF > 1 {printf \"%s took %.1fs\\n\", $7, $NF}' log",
    "awk '{ if ($9 < 400) ok++; else bad++ } END { print ok, bad }' log",
    'awk \'{ print (NF > 2) ? "many" : "few" }\' w',
    "ls | awk '{n+=length($1)} END{print n}'",
    "awk 'BEGIN{print ENVIRON[\"HOME\"]}'",
    "awk -v name=app -F: '$1==name{print $7}' p",
    "awk '{print $1}' FS=: OFS=- p",
    "awk 'NR>=2 && NR<=3' p",
    "awk 'NR==3,/abc/' n",
    "awk '/Used/{next}{print $1}' df",
    "printf 'a,b;c\\n' | awk -F'[,;]' '{print $3 $2 $1}'",
    "printf 'x=1\\ny=2\\n' | awk -F= '{v[$1]=$2} END{print v[\"x\"]+v[\"y\"]}'",
    "seq 10 | awk '{s+=$1; if (NR%5==0) {print s; s=0}}'",
    'seq 5 | awk \'ORS=NR%2?",":"\\n"\'',
    "seq 300 | awk '{a[$1]=1} END{for(k in a){printf \"%s \", k}}'",
    "seq 2000 | awk '{a[$1]=1; b[NR]; c[\"x\" NR % 900]} END{for(k in a) print k; for(k in b) print k; for (k in c) print k}'",
    'seq 300 | awk \'{a["k" $1]=1} END{for(k in a){printf "%s ", k}}\'',
    "seq 40 | awk '{a[$1 % 7]++} END{for(k in a) printf \"%s=%s \", k, a[k]}'",
    "awk '{for(i=1;i<=NF;i++) w[$i]++} END{for(k in w) printf \"%s:%d \", k, w[k]}' log w conf",
    "awk -F: '{u[$7]=u[$7] \" \" $1} END{for(s in u) print s u[s]}' p",
    'awk \'BEGIN{n=split("q w e r t y",a); for(k in a) printf "%s%s ",k,a[k]; a["z"]; for(k in a) printf "%s ",k}\'',
    'awk \'BEGIN{for(i=0;i<20;i++) b[i]; delete b[3]; b["x"]; b[3]; for(k in b) printf "%s ", k}\'',
]

LANGUAGE = [
    'print 1==1.0, "a"<"b", "10"<9, 10<9',
    'print 1 " " 2, -1 " " -1',
    "print 2^3^2, -2^2, !1 + 1, 1 - -1, 2**3",
    "x = y = 3; print x, y; x += 2; x *= 3; x /= 5; x %= 2; x ^= 3; print x",
    'print -7%3, 7%-3, 7.5%2, int(-3.7), int("3abc")',
    "print 1e6, 1000000, 1234567.5, 0.1+0.2, 100000*100000, 1e300*1e300, -1e300*1e300",
    "print 2147483647, 2147483648, 2^53, 1e18, 123456789012345678",
    "print sqrt(16), exp(0), log(1), atan2(0,-1), sin(0), cos(0), exp(1)",
    "print log(-1), 1/0, -1/0, 0/0, log(0), 5%0",
    'print substr("hello",2,3), substr("hello",0,2), substr("hello",-1,3), substr("hello",4,10), substr("hello",9)',
    'print index("foobar","bar"), index("x","y"), index("abc","")',
    'print length("h\\303\\251llo"), length(12345), length(), length',
    's="aaa"; print gsub(/a/,"b&b",s), s',
    's="hello"; gsub(/l*/,"-",s); print s',
    's="a.b.c"; gsub("\\\\.","x",s); print s; sub(/x/,"\\\\&",s); print s',
    's="path/to/file"; n=gsub("/","::",s); print n, s',
    's="x"; sub(/x/,"\\\\\\\\&",s); print s',
    '$0="a b c"; sub(/b/,"X"); print; print $2, NF',
    's="aXbXc"; sub(/X.*/,"",s); print s; gsub(/^/,">",s); print s; gsub(/$/,"<",s); print s',
    'print match("foobar",/o+/), RSTART, RLENGTH; print match("x",/y/), RSTART, RLENGTH; print match("aaa","a*$"), RLENGTH',
    'n=split("a:b:c",a,":"); print n, a[1], a[3]; print split("",a), split(" a b ",z), z[1]',
    'print split("a1b22c",z,/[0-9]+/), z[3]; print split("abc",q,""), q[2]; print split("a.b",r,"."), r[2]',
    'print toupper("aBc1"), tolower("AbC1"), toupper(substr("abc",1,1)) substr("abc",2)',
    'printf "%d %i %5.2f %e %g %c %c %s %%\\n", 3.9, "12abc", 3.14159, 12345.678, 0.0001, 65, "hello", "x"',
    'printf "%*d|%-5s|%05d|%+d|%.3s|%x|%X|%o|%5c|%-4d|\\n", 5, 42, "ab", 42, 5, "abcdef", 255, 255, 8, "z", 7',
    'printf "%d %d %u %x\\n", 2147483648, -2147483649, 4294967296, -1',
    'printf "%s %s %s\\n", 1e20, 1e-5, 123456.789',
    'printf("%s-%s\\n", "a", "b"); printf "no newline"',
    'printf "%#x|%#o|% d|%G\\n", 255, 8, 4, 1e-10',
    'print sprintf("%03d", 7) "|" sprintf("%s", 0.1 + 0.2) "|" sprintf("%.10g", 0.1)',
    'OFMT="%.2f"; CONVFMT="%.3f"; x=3.14159; print x, x ""; print 17 ""',
    'if (!("a" in x)) print "no"; x["a","b"]=1; if (("a","b") in x) print "yes"; for (k in x) { split(k,p,SUBSEP); print p[1] p[2] }',
    'a[1]=1; a["x"]=2; delete a[1]; print length(a); delete a; print length(a)',
    "while (i<3) { i++; if (i==2) continue; print i }; do { j++ } while (j<5); print j",
    "for(;;) { if (k++>3) break }; print k; for (i=0;i<3;i++) ; print i",
    '$3="x"; print; print NF; $0="a b c"; NF=2; print; $5="e"; print; print $(1) $2',
    '$0="a b c"; $2=""; print NF; $7="x"; print NF; NF=2; print $0; print $NF--; print NF',
    'print "a\\tb\\\\c\\"d\\/e\\x41\\101\\q"',
    'print !x, x+0, x "", u==0, u=="", 0==""',
    'x=5; print x++ + ++x; print x--; print -x; print !x; print x^2; print x " " -1; print x" "-1',
    'print 1>2?"a":"b"',
    'print (1>2)?"a":"b"; print 1==1?"y":"n"',
    'print "3x"+1, ".5."+0, "+5"+0, "1e3"+0, "0x10"+0, "abc"+1',
    'print 1,2,3; print(1)(2); print(1,2); print "a" "b", "c"',
    "print 010 + 1, 1.5e1, .5, 5.",
    'print "a.c" ~ "a\\\\.c", "abc" ~ /a.c/, "ABC" ~ /[[:upper:]]+/, "a b" ~ /a[[:space:]]b/, "x{2}" ~ /x{2}/',
    'print "ab" ~ /(a|b)+$/, "" ~ /^$/, "a\\nb" ~ /a.b/, "\\\\" ~ /\\\\/, "a/b" ~ /a\\/b/, "a/b" ~ /[/]/',
    'print "w" ~ /\\w/, "d" ~ /\\d/, "a+b" ~ /a\\+b/, "a]b" ~ /[\\]]/, "-" ~ /[a\\-z]/, "b" ~ /[a\\-z]/',
    'r="^[0-9]+$"; if ("123" ~ r) print "num"; if ("12a" !~ r) print "no"',
    'print "A" > "/dev/stderr"; print "B" > "/dev/stdout"',
    'print "x" | "cat"; close("cat"); print "y"',
    'print "b\\na\\nc" | "sort"; print "after"',
    'print "to sort" | "sort"; close("sort"); print "after"; print system("exit 3"), close("nothing")',
    'print system("echo hi; exit 2"); system(""); print "end"',
    '"echo a b" | getline; print $2, NF; while (("seq 3" | getline v) > 0) print "v" v',
    'print (getline line < "/nonexist")',
    'while ((getline line < "conf") > 0) if (line ~ /port/) print line; close("conf"); getline < "conf"; print $0',
    'cmd = "wc -l < p"; cmd | getline n; close(cmd); print n + 0',
    "print length(x) ; exit 3",
    'exit 3; print "no"',
    'if (1) print "a"; else print "b"; if (0) { print "c" } else if (1) { print "d" } else print "e"',
    'print substr("2025-10-09", 1, 4) + 1; print "x" > "/dev/null"; print 5 " items" + 3',
    'print index("a", "a") index("b", "c"), 1 - 1, 3 % 2 "%"',
    'x["a"]; if ("a" in x) print "made"; print x["q"] == "", length(x)',
    'a = "10"; b = 9; print (a > b), (a+0 > b), ("abc" > "abd"), (a "" > b "")',
    'print -"3x", +"4y", - - 3, 1 - 1 " " 2, !"", !"a", !"0", !0, 1&&0 || 1',
    "print 5 % 3 * 2, 10 / 4 / 2, 2 + 3 * 4 ^ 2, (2 + 3) * 4, 7 - 2 - 1",
    'printf "%s\\n", "a" "b" > "o.txt"; close("o.txt"); getline z < "o.txt"; print z',
    'print "one" > "o"; print "two" > "o"; close("o"); print "three" >> "o"; close("o"); while ((getline l < "o") > 0) print l',
    'print substr("x", "a"), substr(12345, 2, 3), index(12345, 34)',
    'print 0 * -1, -0, 3.0, "3.0" + 0, 1e3 "", 0.1 "", 1e100',
    'n = split("3 1 2", a); for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++) if (a[j] < a[i]) { t = a[i]; a[i] = a[j]; a[j] = t } ; print a[1] a[2] a[3]',
    'print strftime("%Y-%m-%d %H:%M:%S", 0, 1); print mktime("2024 01 02 03 04 05") > "/dev/null"',
]

WHOLE = [
    "function f(n) { return n<=1?1:n*f(n-1) } BEGIN { print f(10) }",
    "function f(a,b) { a[1]=5; b=3; return b*2 } BEGIN { x=1; print f(arr,x), arr[1], x }",
    "function g(x,  i) { for (i=0;i<x;i++) s = s i; return s }\nBEGIN { print g(3); print g(2) }",
    "function fib(n) { if (n<2) return n; return fib(n-1)+fib(n-2) }\nBEGIN { print fib(15) }",
    "function noret() { } BEGIN { x = noret(); print \"[\" x \"]\" }",
    "function deep(n) { return n ? deep(n-1) + 1 : 0 } BEGIN { print deep(200) }",
    "function fill(t, n,  i) { for (i = 1; i <= n; i++) t[i] = i * i }\nBEGIN { fill(sq, 4); print sq[4]; print length(sq) }",
    "BEGIN { exit 3 } END { print \"end\" }",
    "BEGIN { if (1)\nprint \"x\"\nelse\nprint \"y\"\nfor (i=0;i<2;i++)\n  print i\nwhile (i-->0) ; print i }",
    "BEGIN { print 1,\n 2 ; a = 1 &&\n 1; print a } # comment",
    "BEGIN { x = \"a\" \\\n \"b\"; print x }",
    "\n# only\nBEGIN { print \"c\" };\nEND { }",
    "BEGIN { if ( x }",
    "BEGIN { print \"a\" ",
    "BEGIN { foo(1) }",
    "BEGIN { print \"abc }",
    "/abc",
    "@",
    "BEGIN { print > }",
    "BEGIN { x = ; }",
    "BEGIN { print $ }",
    "{ print $1, }",
    "{print $1",
    "print 1",
    "BEGIN print 1",
    "BEGIN",
    "",
    "BEGIN { print substr(\"x\") }",
    "BEGIN { return 1 }",
    "BEGIN{x[\"a\"]=1; print x}",
    "BEGIN { f(1,2) } function f(y) { print y }",
    "function f(y) { y[1]=1 } BEGIN { f(3) }",
    "BEGIN { $(-1)=\"x\" }",
    "BEGIN { printf \"%s %s\\n\", \"a\" }",
    "BEGIN { printf \"%z %d\\n\", 5 }",
    "BEGIN{print \"x\" ~ \"[\"}",
    "BEGIN{print \"x\" ~ /(/}",
    "BEGIN{print \"x\" > \"/nonexist/x\"}",
    "BEGIN{gensub(/a/,\"b\",\"g\")}",
    "{ printf }",
]  # fmt: skip

RECORDS = [
    "{print NF, $0; $1=$1; print}", "{print; print NR}", "/a/", "!/a/", "NR==2", "END{print $0, NF, NR}",
    "{getline; print}", "{getline x; print x, $0, NR}", "{next; print}END{print NR}", "{print $1; nextfile}",
    "{ $2 = \"Z\" } 1", "{ $(NF+2) = \"n\"; print; print NF }", "NR==1{exit} END{print \"bye\"}",
    "{for(i=NF;i>0;i--) printf \"%s%s\", $i, (i>1?OFS:ORS)}", "$1>\"c\"", "$1==$2", "{print $1*2, -$1, !$1}",
    "NR==1,NR==2{print \"r\" $0}", "BEGIN{OFS=\"-\"}{print $1,$2; $3=$3; print}", "{print $NF; print $NF-1; print NF-1}",
    "length($0)>4{print length}", "{n=NF; while(n-->0) c++} END{print c}", "{ x[NR]=$0 } END { print x[2] x[1] }",
    "{ sub(/[ \\t]+$/, \"\"); print $0 \"|\" }", "{ a = a $1 } END { print a }", "BEGIN{getline; print \"h \" $0} {print}",
]  # fmt: skip


def _mawk() -> bool:
    found = shutil.which("mawk")
    if found is None:
        return False
    said = subprocess.run([found, "-W", "version"], capture_output=True, check=False).stdout
    return said.startswith(b"mawk 1.3.4 20200120")


pytestmark = pytest.mark.skipif(not _mawk(), reason="needs Debian 12's mawk to compare with")


@pytest.mark.parametrize("line", ADMIN)
def test_what_administrators_type(line: str) -> None:
    assert_alike(line.replace("awk", "mawk", 1) if line.startswith("awk") else line.replace("| awk", "| mawk"), FILES)


@pytest.mark.parametrize("body", LANGUAGE)
def test_the_language(body: str) -> None:
    assert_alike("mawk '" + "BEGIN { " + body + " }' < /dev/null", FILES)


@pytest.mark.parametrize("program", WHOLE)
def test_whole_programs_and_mistakes(program: str) -> None:
    assert_alike(f"mawk '{program}' < /dev/null", FILES)


@pytest.mark.parametrize("program", RECORDS)
def test_records_and_fields(program: str) -> None:
    assert_alike(f"printf '  a b  c\\n10 9.5\\nd\\te f \\n10 10.0' | mawk '{program}'", {})


@pytest.mark.parametrize(
    "line",
    [
        "mawk", "mawk -h", "mawk -Z x", "mawk -f /nonexist", "mawk '{print}' /nonexist", "mawk '{print}' /etc", "mawk -F",
        "mawk -v 1x=3 'BEGIN{}'", "mawk -vx=5 'BEGIN{print x}'", "mawk -v 'v=a\\nb' 'BEGIN{print v}'", "mawk -W version",
        "mawk -- 'BEGIN{print ARGC, ARGV[0], ARGV[1]}' a b", "mawk '{print v}' v=1 nonl v=2 nonl", "mawk -F '' '{print $2}' nonl",
        "mawk -F. '{print $2}' nonl", "mawk -Ft '{print NF}' conf", "echo 'a|b' | mawk -F'|' '{print $2}'",
        "echo a b | mawk '{print FILENAME \".\" }'", "mawk -f prog.awk -f /dev/null p", "cat nonl | mawk '{print}' - nonl",
        "yes | mawk '{print NR} NR==3{exit}'", "yes | mawk '{print}' | head -2",
    ],
)  # fmt: skip
def test_the_command_line(line: str) -> None:
    assert_alike(line, FILES)
