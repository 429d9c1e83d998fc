"""psql, pg_isready, redis-cli, nginx, openssl and ssh-keygen."""

from __future__ import annotations

from tests.runners.sim.admin.line import Terminal


def test_psql_prints_tables(sh: Terminal) -> None:
    sh("cd /")
    assert sh("sudo -u postgres psql -c 'select 1 as one'").out == " one \n-----\n   1\n(1 row)\n\n"
    assert sh("sudo -u postgres psql -At -c 'select 1'").out == "1\n"
    missing = sh("sudo -u postgres psql shop -c 'select * from nosuch'")
    assert missing.err.splitlines()[:2] == ['ERROR:  relation "nosuch" does not exist', "LINE 1: select * from nosuch"]
    assert missing.status == 1


def test_psql_cannot_connect(sh: Terminal) -> None:
    assert sh("psql -c 'select 1'").status == 2
    sh("systemctl stop postgresql")
    assert sh("pg_isready") == ("/var/run/postgresql:5432 - no response\n", "", 2)
    refused = sh("psql -h 127.0.0.1 -U shop shop -c 'select 1'").err
    assert 'connection to server at "127.0.0.1", port 5432 failed: Connection refused' in refused


def test_redis_cli_talks_to_the_server(sh: Terminal) -> None:
    assert sh("redis-cli ping").out == "PONG\n"
    assert sh("redis-cli set captured 1; redis-cli get captured").out == "OK\n1\n"
    gone = sh("redis-cli -p 6380 ping")
    assert gone == ("", "Could not connect to Redis at 127.0.0.1:6380: Connection refused\n", 1)


def test_nginx_checks_its_configuration(sh: Terminal) -> None:
    assert sh("nginx -t").err.splitlines()[-1] == "nginx: configuration file /etc/nginx/nginx.conf test is successful"
    sh("sed -i '$ d' /etc/nginx/nginx.conf")
    broken = sh("nginx -t")
    assert broken.status == 1
    for part in ("#", "[emerg]", "unexpected end of file, expecting"):
        assert part in broken.err
    assert sh("nginx -v").err == "nginx version: nginx/1.22.1\n"


def test_a_certificate_made_here_can_be_read_and_verified(sh: Terminal) -> None:
    sh(
        "openssl req -x509 -newkey ed25519 -nodes -keyout /root/k.pem -out /root/c.pem -days 10 -subj "
        "/CN=www.example.com"
    )
    assert sh("openssl x509 -in /root/c.pem -noout -subject").out == "subject=CN = www.example.com\n"
    assert sh("openssl verify -CAfile /root/c.pem /root/c.pem").out == "/root/c.pem: OK\n"
    assert sh("openssl x509 -in /root/c.pem -noout -checkend 86400").status == 0
    assert sh("openssl x509 -in /root/c.pem -noout -checkend 8640000").status == 1


def test_keys_repeat_from_world_to_world() -> None:
    made = [Terminal()("ssh-keygen -q -t ed25519 -N '' -f /root/id; cat /root/id.pub").out for _ in range(2)]
    assert made[0] == made[1]
    assert "ssh-ed25519 " in made[0]


def test_what_the_database_says_of_its_time_and_size(sh: Terminal) -> None:
    since = sh("su - postgres -c 'psql -Atc \"select now() - pg_postmaster_start_time()\"'").out
    assert since.startswith("22 days 05:0")
    size = "select pg_size_pretty(pg_database_size(current_database())), pg_database_size('shop')"
    assert sh(f'su - postgres -c "psql -Atc \\"{size}\\""').out == "7453 kB|7631872\n"


def test_a_plan_reads_the_table_through(sh: Terminal) -> None:
    plan = sh('su - postgres -c "psql -At shop -c \\"explain select * from orders where status = \'new\'\\""').out
    assert plan.splitlines() == ["Seq Scan on orders  (cost=0.00..1.10 rows=10 width=40)", "  Filter: (status = 'new')"]


def test_keys_are_gone_through_without_naming_them(sh: Terminal) -> None:
    keys = sh("redis-cli keys '*'").out
    assert sh("redis-cli --scan").out == keys
    assert sh("redis-cli scan 0 match 'session:*' count 10").out == "0\nsession:7f3a\nsession:91bc\n"
    sh("redis-cli set large 0123456789012345; redis-cli lpush queue a b c")
    largest = sh("redis-cli --bigkeys").out
    assert "Sampled 6 keys in the keyspace!" in largest
    assert "Biggest string found '\"large\"' has 16 bytes" in largest
    assert "1 lists with 3 items (16.67% of keys, avg size 3.00)" in largest
