"""Sockets, addresses, names, HTTP and the packet filter."""

from __future__ import annotations

import json

import pytest

from tests.runners.sim.admin.line import Terminal


def test_ss_and_netstat_agree_on_the_listeners(sh: Terminal) -> None:
    listed = sh("ss -tln").lines
    assert listed[0].split() == ["State", "Recv-Q", "Send-Q", "Local", "Address:Port", "Peer", "Address:PortProcess"]
    ports = {line.split()[3].rsplit(":", 1)[1] for line in listed[1:]}
    assert {"22", "80", "5432", "6379"} <= ports
    assert ports == {line.split()[3].rsplit(":", 1)[1] for line in sh("netstat -tln").lines[2:]}


def test_ss_names_the_processes(sh: Terminal) -> None:
    line = sh("ss -tlnp 'sport = :80'").lines[1]
    assert 'users:(("nginx",pid=' in line
    sh("systemctl stop nginx")
    assert len(sh("ss -tlnp 'sport = :80'").lines) == 1


def test_lsof_and_fuser_find_the_holder_of_a_port(sh: Terminal) -> None:
    lines = sh("lsof -nP -iTCP:80 -sTCP:LISTEN").lines
    assert lines[0].split() == ["COMMAND", "PID", "USER", "FD", "TYPE", "DEVICE", "SIZE/OFF", "NODE", "NAME"]
    assert lines[1].endswith("TCP *:80 (LISTEN)")
    assert len(sh("fuser 80/tcp").out.split()) == 3
    assert sh("fuser 9999/tcp").status == 1
    assert sh("lsof -i :9999").status == 1


def test_lsof_finds_deleted_files_that_are_still_open(sh: Terminal) -> None:
    sh("rm /var/log/nginx/access.log")
    lines = sh("lsof +L1").lines
    assert "NLINK" in lines[0]
    assert any(line.endswith("/var/log/nginx/access.log (deleted)") for line in lines)


@pytest.mark.parametrize(
    ("command", "status"),
    [
        ("curl -s http://localhost/", 0),
        ("curl -s http://localhost:9999/", 7),
        ("curl -s http://nosuch.invalid/", 6),
        ("curl -sf http://localhost/no-such-page-at-all", 22),
        ("curl -s --max-time 1 http://10.9.9.9/", 28),
        ("curl -s bogus://localhost/", 1),
        ("curl --bogus", 2),
    ],
)
def test_curl_exit_codes(sh: Terminal, command: str, status: int) -> None:
    assert sh(command).status == status


def test_curl_writes_out_and_keeps_quiet(sh: Terminal) -> None:
    assert sh("curl -s -o /dev/null -w '%{http_code}\\n' http://localhost/").out == "200\n"
    refused = sh("curl -sS http://localhost:9999/").err
    assert refused == "curl: (7) Failed to connect to localhost port 9999 after 0 ms: Couldn't connect to server\n"
    head = sh("curl -sI http://localhost/").lines
    assert head[0] == "HTTP/1.1 200 OK"
    assert head[1] == "Server: nginx/1.22.1"


def test_names_resolve_through_hosts_and_dns(sh: Terminal) -> None:
    assert sh("dig +short db-primary.example.com").out.count(".") == 3
    assert "status: NXDOMAIN" in sh("dig nosuch.invalid").out
    assert sh("getent hosts nosuch.invalid").status == 2
    sh("echo 'nameserver 10.9.9.9' > /etc/resolv.conf")
    result = sh("dig +time=1 +tries=1 db-primary.example.com")
    assert result.status == 9
    assert ";; no servers could be reached" in result.out


def test_iptables_rules_come_and_go(sh: Terminal) -> None:
    before = sh("iptables -S INPUT").lines
    assert sh("iptables -I INPUT 1 -p tcp --dport 80 -j DROP").status == 0
    assert sh("iptables -S INPUT").lines[1] == "-A INPUT -p tcp -m tcp --dport 80 -j DROP"
    shown = sh("iptables -L INPUT -n --line-numbers").lines
    assert shown[1] == "num  target     prot opt source               destination         "
    assert shown[2] == "1    DROP       6    --  0.0.0.0/0            0.0.0.0/0            tcp dpt:80"
    assert sh("curl -s -m 1 http://localhost/").status == 28
    assert sh("iptables -D INPUT 1").status == 0
    assert sh("iptables -S INPUT").lines == before
    assert sh("iptables -D INPUT 99") == ("", "iptables: Index of deletion too big.\n", 1)


def test_saved_rules_can_be_restored(sh: Terminal) -> None:
    sh("iptables-save > /root/rules; iptables -F INPUT")
    assert sh("iptables -S INPUT").lines == ["-P INPUT ACCEPT"]
    sh("iptables-restore < /root/rules")
    assert len(sh("iptables -S INPUT").lines) > 3


def test_ip_shows_addresses_and_routes(sh: Terminal) -> None:
    assert sh("ip -br addr").lines[0].split()[:3] == ["lo", "UNKNOWN", "127.0.0.1/8"]
    assert sh("ip route").lines[0].startswith("default via ")
    assert sh("ip a show nosuch0") == ("", 'Device "nosuch0" does not exist.\n', 1)
    assert sh("ip bogus").err == 'Object "bogus" is unknown, try "ip help".\n'


def test_nc_tries_ports(sh: Terminal) -> None:
    assert sh("nc -zv 127.0.0.1 80").err == "Connection to 127.0.0.1 80 port [tcp/http] succeeded!\n"
    refused = sh("nc -zv 127.0.0.1 9999")
    assert refused == ("", "nc: connect to 127.0.0.1 port 9999 (tcp) failed: Connection refused\n", 1)


def test_ping_counts(sh: Terminal) -> None:
    lines = sh("ping -c 2 127.0.0.1").lines
    assert lines[0] == "PING 127.0.0.1 (127.0.0.1) 56(84) bytes of data."
    assert lines[-2].startswith("2 packets transmitted, 2 received, 0% packet loss, time ")


def test_bash_connects_by_itself(sh: Terminal) -> None:
    assert sh("timeout 1 bash -c '</dev/tcp/127.0.0.1/80' && echo open").out == "open\n"
    assert sh("(echo > /dev/tcp/localhost/http) && echo open").out == "open\n"
    assert sh("(echo > /dev/tcp/127.0.0.1/81)").err == (
        "bash: connect: Connection refused\nbash: /dev/tcp/127.0.0.1/81: Connection refused\n"
    )
    assert sh("< /dev/tcp/nosuch/80").err == (
        "bash: nosuch: Name or service not known\nbash: /dev/tcp/nosuch/80: Invalid argument\n"
    )
    assert sh("< /dev/tcp/127.0.0.1/nosuch").err.startswith("bash: nosuch: Servname not supported for ai_socktype\n")
    asked = "exec 3<>/dev/tcp/127.0.0.1/80; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; head -1 <&3; exec 3>&-"
    assert sh(asked).out.startswith("HTTP/1.1 200 OK\r\n")
    assert sh("exec 4<>/dev/tcp/127.0.0.1/22; read -t 2 l <&4; echo $l; read -t 2 l <&4; echo $?").lines[1] == "142"


def test_what_a_firewall_drops_does_not_connect(sh: Terminal) -> None:
    sh("iptables -I INPUT -p tcp --dport 80 -j DROP")
    assert sh("timeout 3 bash -c '</dev/tcp/127.0.0.1/80'; echo $?").out == "124\n"


def test_datagrams_are_sent_and_refused_later(sh: Terminal) -> None:
    sent = sh("exec 5> /dev/udp/127.0.0.1/999; echo a >&5; echo $?; echo b >&5; echo $?")
    assert (sent.out, sent.err) == ("0\n1\n", "bash: echo: write error: Connection refused\n")


def test_an_interface_has_as_many_addresses_as_it_is_given(sh: Terminal) -> None:
    assert sh("ip addr add 10.0.0.50/24 dev eth0").status == 0
    assert sh("ip -4 -br addr show eth0").out.split()[2:] == ["10.0.0.10/24", "10.0.0.50/24"]
    assert "    inet 10.0.0.50/24 scope global secondary eth0" in sh("ip addr show eth0").lines
    assert "    inet 10.0.0.10/24 brd 10.0.0.255 scope global eth0" in sh("ip addr show eth0").lines
    assert sh("hostname -I").out == "10.0.0.10 10.0.0.50 \n"
    assert sh("curl -s -o /dev/null -w '%{http_code}' http://10.0.0.50/").out == "200"
    again = sh("ip addr add 10.0.0.50/24 dev eth0")
    assert (again.status, again.err) == (2, "Error: ipv4: Address already assigned.\n")
    assert sh("ip addr del 10.0.0.50/24 dev eth0").status == 0
    assert sh("ip addr del 10.0.0.50/24 dev eth0").err == "Error: ipv4: Address not found.\n"
    assert sh("hostname -I").out == "10.0.0.10 \n"
    assert sh("curl -s -o /dev/null -w '%{http_code}' http://10.0.0.10/").out == "200"
    assert sh("ip route").lines[1] == "10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.10 "
    sh("ip addr add 10.99.0.1/32 dev lo")
    assert sh("ip -4 -o addr show lo").lines == [
        "1: lo    inet 127.0.0.1/8 scope host lo\\       valid_lft forever preferred_lft forever",
        "1: lo    inet 10.99.0.1/32 scope global lo\\       valid_lft forever preferred_lft forever",
    ]


def test_a_primary_address_takes_its_secondary_ones_along_and_the_last_one_every_route(sh: Terminal) -> None:
    sh("ip addr add 10.0.0.50/24 dev eth0; ip addr add 10.9.0.1/16 dev eth0")
    assert sh("hostname -I").out == "10.0.0.10 10.9.0.1 10.0.0.50 \n"
    sh("ip addr del 10.0.0.10/24 dev eth0")
    assert sh("hostname -I").out == "10.9.0.1 \n"
    assert sh("ip route").lines == [
        "default via 10.0.0.1 dev eth0 ",
        "10.9.0.0/16 dev eth0 proto kernel scope link src 10.9.0.1 ",
    ]
    sh("ip addr flush dev eth0")
    assert sh("ip route; ip -4 addr show eth0; hostname -I").out == "\n"
    assert sh("ip route replace default via 10.0.0.1 dev eth0").err == "Error: Nexthop has invalid gateway.\n"
    assert sh("ip route get 10.0.0.12").err == "RTNETLINK answers: Network is unreachable\n"


def test_a_link_that_goes_down_loses_its_routes(sh: Terminal) -> None:
    sh("ip route add blackhole 192.0.2.0/24; ip link set eth0 down")
    assert sh("ip route").lines == ["blackhole 192.0.2.0/24 "]
    assert sh("ip route add default via 10.0.0.1").err == "Error: Nexthop has invalid gateway.\n"
    assert sh("ip route add default dev eth0").err == "Error: Device for nexthop is not up.\n"
    sh("ip link set up eth0")
    assert sh("ip route").lines[0] == "10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.10 "
    assert sh("ping -c1 -W1 10.0.0.1").status == 0
    assert sh("ping -c1 -W1 192.0.2.9").status == 2
    assert sh("ip route add default via 10.0.0.1").status == 0
    assert sh("ip route add default via 10.0.0.2").err == "RTNETLINK answers: File exists\n"


def test_routes_are_added_shown_asked_and_taken_away(sh: Terminal) -> None:
    sh("ip route add 10.98.0.0/16 via 10.0.0.2; ip route add 10.97.0.0/16 dev eth0")
    sh("ip route add 10.96.1.1 via 10.0.0.3 metric 50")
    assert sh("ip route").lines == [
        "default via 10.0.0.1 dev eth0 ",
        "10.0.0.0/24 dev eth0 proto kernel scope link src 10.0.0.10 ",
        "10.96.1.1 via 10.0.0.3 dev eth0 metric 50 ",
        "10.97.0.0/16 dev eth0 scope link ",
        "10.98.0.0/16 via 10.0.0.2 dev eth0 ",
    ]
    assert sh("ip route get 10.98.1.1").lines[0] == "10.98.1.1 via 10.0.0.2 dev eth0 src 10.0.0.10 uid 0 "
    host = sh("route -n").lines[4].split()
    assert host == ["10.96.1.1", "10.0.0.3", "255.255.255.255", "UGH", "50", "0", "0", "eth0"]
    assert sh("ip route del 10.98.0.0/16 via 10.0.0.3").status == 2
    assert sh("ip route del 10.98.0.0/16").status == 0
    assert sh("ip route show 10.98.0.0/16").out == ""


@pytest.mark.parametrize(
    ("command", "status", "message"),
    [
        ("ip route add 10.98.0.0/16 via 1.2.3.4", 2, "Error: Nexthop has invalid gateway.\n"),
        ("ip route add 1.1.1.1/24 via 10.0.0.1", 2, "Error: Invalid prefix for given prefix length.\n"),
        ("ip route add default via foo", 1, 'Error: any valid address is expected rather than "foo".\n'),
        ("ip route add 10.2.3.0/24 dev nonsuch", 1, 'Cannot find device "nonsuch"\n'),
        ("ip route replace default via 10.0.0.1 dev", 255, 'Command line is not complete. Try option "help"\n'),
        ("ip link set lo foo", 255, 'Error: either "dev" is duplicate, or "foo" is a garbage.\n'),
        ("ip link set lo mtu x", 255, 'Error: argument "x" is wrong: Invalid "mtu" value\n\n'),
        ("ip link set", 255, 'Not enough information: "dev" argument is required.\n'),
        ("ip link set dev eth0 mtu 10", 2, "Error: mtu less than device minimum.\n"),
        ("ip link add dummy0 type dummy", 2, "Error: Unknown device type.\n"),
        ("ip link foo", 255, 'Command "foo" is unknown, try "ip link help".\n'),
        ("ip addr add 1.2.3.4/40 dev lo", 1, 'Error: any valid prefix is expected rather than "1.2.3.4/40".\n'),
        ("ip addr add 1.2.3.4", 1, 'Not enough information: "dev" argument is required.\n'),
        ("ip addr flush dev nonsuch", 1, 'Device "nonsuch" does not exist.\n'),
    ],
)
def test_what_ip_refuses(sh: Terminal, command: str, status: int, message: str) -> None:
    result = sh(command)
    assert (result.status, result.out, result.err) == (status, "", message)


def test_options_of_a_link_come_in_any_order(sh: Terminal) -> None:
    assert sh("ip link set mtu 1400 dev eth0").status == 0
    assert "mtu 1400 " in sh("ip link show eth0").out
    assert sh("cat /sys/class/net/eth0/mtu").out == "1400\n"


def test_curl_tries_the_addresses_of_the_family_asked_for(sh: Terminal) -> None:
    refused = "curl: (7) Failed to connect to localhost port 80 after 0 ms: Couldn't connect to server\n"
    assert sh("curl -6 -sS http://localhost/") == ("", refused, 7)
    assert sh("curl -sS 'http://[::1]/'").status == 7
    assert sh("curl -4 -s -o /dev/null http://localhost/").status == 0
    assert sh("curl -6 -sS http://127.0.0.1/").err == "curl: (7) Couldn't connect to server\n"
    assert sh("curl -6 -s http://db-primary.example.com/").status == 6
    assert [
        line for line in sh("curl -sv http://localhost:1/").err.splitlines() if "onnect to" in line or "Try" in line
    ] == [
        "*   Trying 127.0.0.1:1...",
        "* connect to 127.0.0.1 port 1 failed: Connection refused",
        "*   Trying [::1]:1...",
        "* connect to ::1 port 1 failed: Connection refused",
        "* Failed to connect to localhost port 1 after 0 ms: Couldn't connect to server",
    ]


def test_curl_gives_up_asking_for_a_name_when_its_time_is_up(sh: Terminal) -> None:
    sh("echo nameserver 10.0.0.222 > /etc/resolv.conf")
    hurried = sh("curl -m 2 -sS http://db-primary.example.com/")
    assert (hurried.status, hurried.err) == (28, "curl: (28) Resolving timed out after 2000 milliseconds\n")
    assert sh("curl -sS http://db-primary.example.com/").status == 6


def test_curl_tells_all_it_knows_of_a_transfer(sh: Terminal) -> None:
    told = json.loads(sh("curl -s -o /dev/null -w '%{json}' http://localhost/").out)
    assert (told["http_code"], told["remote_port"], told["errormsg"], told["url"]) == (
        200,
        80,
        None,
        "http://localhost/",
    )
    unknown = sh("curl -s -o /dev/null -w '%{nonsuch}%%{http_code}%%\\n' http://localhost/")
    assert (unknown.out, unknown.err) == ("%{http_code}%\n", "curl: unknown --write-out variable: 'nonsuch'\n")
    assert sh("curl -s -o /dev/null -w '%{http_code} %{exitcode}\\n' http://localhost:1/").out == "000 7\n"


def test_curl_encodes_form_data(sh: Terminal) -> None:
    sh("curl -s -o /dev/null -G --data-urlencode 'n=a b&c/~' --data-urlencode '=q r' http://localhost/")
    assert '"GET /?n=a+b%26c%2F~&q+r HTTP/1.1"' in sh("tail -n 1 /var/log/nginx/access.log").out


@pytest.mark.parametrize(
    ("condition", "ports"),
    [
        ("( sport = :80 or sport = :443 )", {"80", "443"}),
        ("sport = :80 or sport = :443", {"80", "443"}),
        ("( sport = :80 )", {"80"}),
        ("( sport >= :80 and sport <= :443 ) and not sport = :443", {"80"}),
        ("sport = :80 sport = :443", set()),
    ],
)
def test_conditions_of_ss(sh: Terminal, condition: str, ports: set[str]) -> None:
    lines = sh(f"ss -Htan state listening '{condition}'").lines
    assert {line.split()[2].rsplit(":", 1)[1] for line in lines} == ports


def test_ss_tells_whose_a_socket_is(sh: Terminal) -> None:
    assert " uid:" in sh("ss -Htlnpe 'sport = :5432'").lines[0]
    assert " uid:" not in sh("ss -Htlnpe 'sport = :22'").lines[0]


def test_what_stands_in_no_table_is_not_restored(sh: Terminal) -> None:
    before = sh("iptables -S").out
    for text in ("-A INPUT -p udp -j DROP", "*filter\\nCOMMIT\\n-A INPUT -p udp -j DROP"):
        result = sh(f"printf -- '{text}\\n' | iptables-restore")
        number = text.count("\\n") + 1
        assert (result.status, result.err) == (1, f"iptables-restore: line {number} failed\n")
        assert sh("iptables -S").out == before
    assert sh("iptables-save | iptables-restore; iptables -S").out == before
