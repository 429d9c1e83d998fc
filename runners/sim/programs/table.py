"""All programs by the name of their implementation."""

from __future__ import annotations

from collections.abc import Mapping

from runners.sim.machine import Program
from runners.sim.programs import apache, cron, nginx, postgres, redis, rsyslogd, services, shop, sshd, workload

PROGRAMS: Mapping[str, Program] = {
    **apache.PROGRAMS,
    **cron.PROGRAMS,
    **nginx.PROGRAMS,
    **postgres.PROGRAMS,
    **redis.PROGRAMS,
    **rsyslogd.PROGRAMS,
    **services.PROGRAMS,
    **shop.PROGRAMS,
    **sshd.PROGRAMS,
    **workload.PROGRAMS,
}
