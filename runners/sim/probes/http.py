"""http: a request made on a fork, as a client of the system makes it.

It comes from outside, through the firewall, to the machine's own address, even for `http://localhost/…`; only a port
that the healthy machine offers to itself alone (an app behind nginx) is asked from inside. The answer counts when it
comes from the program that listens there on the healthy machine, and through the same programs as there: where nginx
passes the request on to the application, nginx's own `return 200` is no answer. (This is asked only of what the healthy
machine answers as expected; of anything else nobody knows the way.)
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple
from urllib.parse import urlsplit

from runners.probes.arguments import Arguments
from runners.probes.http import Answer, judge, patience
from runners.probes.seen import Seen, nothing_held
from runners.sim.budget import Budget
from runners.sim.machine import Machine
from runners.sim.network.connect import ConnectFailure, connect
from runners.sim.network.http import HttpFailure, HttpResponse, request
from runners.sim.probes.baseline import Baseline
from runners.sim.probes.vantage import LOCAL, client_address, own_address
from runners.worlds import Observation

_PATIENCE = 30.0
_WORK = 10_000_000


def http(machine: Machine, arguments: Arguments, baseline: Baseline) -> Observation:
    seen, url = Seen(), arguments.require("url")
    question = _question(machine, url, baseline, patience(arguments, _PATIENCE))
    stranger = _stranger(machine, question, baseline)
    if stranger is not None:
        return nothing_held(stranger)
    question = question._replace(method=arguments.text("method") or "GET", host=arguments.text("host"))
    answer = _ask(machine, question)
    if isinstance(answer, HttpFailure):
        return nothing_held(f"{url}: {answer.message}")
    _judge(answer, arguments, seen)
    if baseline.machine is not None:
        usual = _usual(baseline.machine, question)
        way = usual.via if isinstance(usual, HttpResponse) and _is_expected(usual, arguments) else ()
        if not set(way) <= set(answer.via):
            seen.expect(False, f"{url} was answered by {' and '.join(answer.via)} without {' and '.join(way)}")
    return seen.observation()


def ask(machine: Machine, url: str, baseline: Baseline) -> tuple[HttpResponse | HttpFailure | None, str | None]:
    """What a client gets for an address; or, with no answer, who answers there and does not belong there."""
    question = _question(machine, url, baseline, _PATIENCE)
    stranger = _stranger(machine, question, baseline)
    return (None if stranger is not None else _ask(machine, question)), stranger


class _Question(NamedTuple):
    method: str
    url: str
    host: str | None
    source: str
    patience: float
    address: str
    port: int


def _question(machine: Machine, url: str, baseline: Baseline, patience: float) -> _Question:
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    host = parts.hostname or ""
    inside = host in LOCAL and port in {known for _, known in baseline.listeners} and port not in baseline.outside
    source = "127.0.0.1" if inside else client_address(machine)
    address = "127.0.0.1" if inside else (own_address(machine, host) or host)
    return _Question("GET", url, None, source, patience, address, port)


def _stranger(machine: Machine, question: _Question, baseline: Baseline) -> str | None:
    listener = connect(machine, question.address, question.port, source=question.source, timeout=question.patience)
    process = None if isinstance(listener, ConnectFailure) else listener.process
    if process is None or baseline.genuine_listener("tcp", question.port, process):
        return None
    return f"{process.name} answers on port {question.port}, which is not what belongs there"


def _ask(machine: Machine, question: _Question) -> HttpResponse | HttpFailure:
    return request(
        machine,
        question.method,
        question.url,
        headers=() if question.host is None else (("Host", question.host),),
        source=question.source,
        timeout=question.patience,
        connect_to=question.address,
    )


@lru_cache(maxsize=128)
def _usual(healthy: Machine, question: _Question) -> HttpResponse | HttpFailure:
    """What the healthy machine answers: always the same."""
    fork = healthy.fork()
    fork.budget = Budget(_WORK)
    return _ask(fork, question)


def _judge(answer: HttpResponse, arguments: Arguments, seen: Seen) -> None:
    judge(Answer(answer.status, answer.body, answer.header, answer.seconds), arguments, seen)


def _is_expected(answer: HttpResponse, arguments: Arguments) -> bool:
    seen = Seen()
    _judge(answer, arguments, seen)
    return seen.observation().holds
