from __future__ import annotations

import pytest

from runners.sim.systemd.lint import Finding, findings
from tests.runners.sim.worlds import typed, web_server

PATH = "/etc/systemd/system/report.service"


@pytest.mark.parametrize(
    ("line", "said", "fatal"),
    [
        ("Restartt=always", "Unknown key 'Restartt' in section [Service], ignoring.", False),
        ("Type=bogus", "Failed to parse service type, ignoring: bogus", False),
        ("Restart=sometimes", "Failed to parse service restart specifier, ignoring: sometimes", False),
        ("User=nobody", "Special user nobody configured, this is not safe!", False),
        ("ExecStart=bin/x --all", "Neither a valid executable name nor an absolute path: bin/x", True),
        ("Restart", "Missing '=', ignoring line.", False),
    ],
)
def test_a_bad_line_is_named_with_its_place(line: str, said: str, fatal: bool) -> None:
    text = f"[Service]\n# comment\n{line}\n"
    assert findings(PATH, text) == (Finding(f"{PATH}:3: {said}", fatal),)


def test_an_ordinary_file_has_no_findings() -> None:
    text = (
        "[Unit]\nDescription=x\nConditionPathExists=/x\nX-Note=1\n[Service]\nType=notify\nLimitNOFILE=9\n"
        "ExecStart=/bin/sh -c 'echo \\\n  Wrong = 1'\nExecStop=-kill $MAINPID\n[Install]\nWantedBy=multi-user.target\n"
    )
    assert findings(PATH, text) == ()


def test_a_line_before_any_section_is_ignored() -> None:
    assert findings(PATH, "User=root\n") == (Finding(f"{PATH}:1: Assignment outside of section. Ignoring."),)


@pytest.mark.parametrize(
    ("before", "code"), [("true", 16), ("rm /usr/bin/man", 1)], ids=["no page", "nobody who could show it"]
)
def test_a_named_page_that_is_not_there_is_a_finding(before: str, code: int) -> None:
    live = web_server()
    typed(live, before)

    def verified(unit: str) -> list[str]:
        return typed(live, f"systemd-analyze verify {unit}; echo $?").output.decode().splitlines()[1:]

    assert verified("nginx.service") == [f"nginx.service: Command 'man nginx(8)' failed with code {code}", "1"]
    assert verified("shop.service") == ["0"]
