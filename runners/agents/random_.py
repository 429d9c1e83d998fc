"""`random`: types administrators' commands at random, drawn with the trial's seed. The floor for real agents."""

from __future__ import annotations

import random
from dataclasses import dataclass

from runners.agents.protocol import Action, Agent, Answer, Briefing, Done, Observation, Run, Setting
from runners.agents.spec import without_settings

_LOOKING = (
    "systemctl --failed",
    "systemctl status {unit} --no-pager",
    "systemctl list-units --type=service --no-pager",
    "journalctl -n 30 --no-pager",
    "journalctl -u {unit} -n 20 --no-pager",
    "df -h",
    "df -i",
    "free -m",
    "uptime",
    "ps aux",
    "ss -tlnp",
    "dmesg | tail -n 20",
    "tail -n 20 /var/log/syslog",
    "tail -n 20 /var/log/nginx/error.log",
    "ls -l /etc/{unit}",
    "crontab -l",
    "iptables -L -n",
    "curl -sI http://localhost/",
    "dig +short api.example.com",
    "last -n 5",
    "du -sh /var/log",
    "nginx -t",
)
_CHANGING = (
    "systemctl restart {unit}",
    "systemctl start {unit}",
    "systemctl stop {unit}",
    "systemctl reload {unit}",
    "systemctl enable --now {unit}",
    "systemctl daemon-reload",
    "chmod 644 /etc/{unit}/*",
    "chown -R root:root /etc/{unit}",
    "rm -f /tmp/*",
    "truncate -s 0 /var/log/syslog",
    "logrotate -f /etc/logrotate.conf",
    "iptables -F",
    "kill -HUP $(pgrep -o {unit})",
    "pkill -9 {unit}",
)
_UNITS = ("nginx", "postgresql", "redis-server", "app", "cron", "ssh", "rsyslog")
_ANSWERS = ("nginx", "postgresql", "disk full", "permission denied", "the network", "it was DNS", "12:00:00")
_MOST_COMMANDS = 12
_CHANGES = 0.35


class RandomAgent:
    """Looks about twice as often as it changes something, guesses each question once, and gives up after a while."""

    def __init__(self, seed: int) -> None:
        # A generator for reproducible play, not for secrets.
        self._random = random.Random(seed)  # noqa: S311
        self._left = 0
        self._questions = 0

    def reset(self, briefing: Briefing) -> None:
        self._left = self._random.randint(1, min(_MOST_COMMANDS, max(1, briefing.limits.commands)))
        self._questions = len(briefing.questions)

    def act(self, observation: Observation) -> Action:
        if self._left > 0 and observation.commands_left > 0:
            self._left -= 1
            pool = _CHANGING if self._random.random() < _CHANGES else _LOOKING
            return Run(self._random.choice(pool).replace("{unit}", self._random.choice(_UNITS)))
        if self._questions > 0:
            self._questions -= 1
            return Answer(self._random.choice(_ANSWERS))
        return Done()


@dataclass(frozen=True, slots=True)
class Random:
    def __call__(self, setting: Setting) -> Agent:
        return RandomAgent(setting.seed)


read = without_settings(Random())
