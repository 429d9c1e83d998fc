from __future__ import annotations

import pytest

from runners.sim.files.inode import ROOT
from runners.sim.machine import Machine
from runners.sim.network.http import HttpFailure, HttpResponse, request
from runners.sim.programs.apache import check
from runners.sim.systemd import manager
from tests.runners.sim.servers import messages, server

CONFIG = "/etc/apache2/apache2.conf"
SITE = "/etc/apache2/sites-enabled/000-default.conf"


@pytest.fixture
def machine() -> Machine:
    return server()


def state(machine: Machine, name: str) -> str:
    return manager.state_of(machine, f"{name}.service").active


def serving(machine: Machine) -> Machine:
    """The other web server has left its port."""
    manager.stop(machine, "nginx")
    manager.start(machine, "apache2")
    assert state(machine, "apache2") == "active"
    return machine


def get(machine: Machine, path: str, method: str = "GET") -> HttpResponse:
    answer = request(machine, method, f"http://localhost{path}")
    assert isinstance(answer, HttpResponse)
    return answer


def edit(machine: Machine, path: str, old: str, new: str) -> None:
    text = machine.view().text(path)
    assert old in text
    machine.view().write(path, text.replace(old, new, 1).encode())


def test_it_is_installed_and_off(machine: Machine) -> None:
    assert state(machine, "apache2") == "inactive"
    assert not machine.view().exists("/etc/systemd/system/multi-user.target.wants/apache2.service")


def test_who_comes_second_cannot_start(machine: Machine) -> None:
    manager.start(machine, "apache2")
    assert state(machine, "apache2") == "failed"
    said = messages(machine, "apache2.service")
    assert "(98)Address already in use: AH00072: make_sock: could not bind to address 0.0.0.0:80" in said
    serving(machine)
    manager.start(machine, "nginx")
    assert state(machine, "nginx") == "failed"
    assert any("bind() to 0.0.0.0:80 failed (98: Address already in use)" in line for line in messages(machine))


def test_it_serves_the_default_site(machine: Machine) -> None:
    serving(machine)
    answer = get(machine, "/")
    assert (answer.status, answer.header("Server")) == (200, "Apache/2.4.57 (Debian)")
    assert b"It works!" in answer.body
    assert get(machine, "/health").status == 404
    assert get(machine, "/", "POST").status == 405
    assert get(machine, "/", "HEAD").body == b""
    machine.view().chmod("/var/www/html/index.html", 0o600)
    assert get(machine, "/").status == 403
    log = machine.view().text("/var/log/apache2/access.log").splitlines()
    assert [line.split('"')[1] for line in log[:2]] == ["GET / HTTP/1.1", "GET /health HTTP/1.1"]
    assert [line.split()[8] for line in log] == ["200", "404", "405", "200", "403"]


def test_it_leaves_its_port_and_its_pid_file_when_it_is_stopped(machine: Machine) -> None:
    serving(machine)
    assert machine.view().exists("/run/apache2/apache2.pid")
    manager.stop(machine, "apache2")
    assert isinstance(request(machine, "GET", "http://localhost/"), HttpFailure)
    assert not machine.view().exists("/run/apache2/apache2.pid")
    assert "shutting down" in machine.view().text("/var/log/apache2/error.log")


def test_a_reload_reads_the_files_again(machine: Machine) -> None:
    serving(machine)
    edit(machine, "/etc/apache2/sites-available/000-default.conf", "/var/www/html", "/var/www/shop")
    assert b"It works!" in get(machine, "/").body
    manager.reload(machine, "apache2")
    assert get(machine, "/robots.txt").status == 200


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        (CONFIG, "KeepAlive On", "KeepAlife On", f"AH00526: Syntax error on line 8 of {CONFIG}:"),
        (SITE, "DocumentRoot", "DokumentRoot", f"AH00526: Syntax error on line 3 of {SITE}:"),
        (SITE, "</VirtualHost>", "", "<virtualhost> was not closed."),
        (CONFIG, "Include ports.conf", "Include port.conf",
         "apache2: Could not open configuration file /etc/apache2/port.conf: No such file or directory"),
        ("/etc/apache2/ports.conf", "Listen 80", "", "no listening sockets available, shutting down"),
        ("/etc/apache2/envvars", "USER=www-data", "USER=www", "AH00543: apache2: bad user name www"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_the_configuration(machine: Machine, path: str, old: str, new: str, said: str) -> None:
    assert check(machine, ROOT)[1] == 0
    target = path.replace("sites-enabled", "sites-available")
    edit(machine, target, old, new)
    lines, status = check(machine, ROOT)
    assert status == 1
    assert said in lines
