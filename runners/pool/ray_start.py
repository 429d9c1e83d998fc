"""Starting Ray: quietly, without telling anybody, and never waiting for a cluster that is not there."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

from scenario_dsl.errors import HostError

ADDRESS = "RAY_ADDRESS"
_ADDRESS_FILE = Path("/tmp/ray/ray_current_cluster")  # noqa: S108 (where Ray itself notes the running cluster)
_CONNECT_SECONDS = 5.0
_OBJECT_STORE_BYTES = 160_000_000
"""Packs and records are small; Ray's default of a third of the memory is not needed."""


def start_ray(workers: int | None = None) -> bool:
    """Join the cluster of RAY_ADDRESS, or start a local one with so many CPUs (None: all).

    Returns whether Ray was started here, and so has to be shut down here. Raises HostError with what to do about it.
    """
    # Read when Ray is first imported, so they come before. Nobody is told of this run; the second one keeps Ray from
    # hiding a machine's accelerators from workers that asked for none, and from warning that it will stop doing so.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    import ray

    if ray.is_initialized():
        return False
    address = os.environ.get(ADDRESS, "")
    remedy = f"start the cluster, or unset {ADDRESS} to run on this machine alone"
    if address and address != "local":
        _check_reachable(address, remedy)
    sigterm = signal.getsignal(signal.SIGTERM)
    try:
        if address and address != "local":
            ray.init(log_to_driver=False, logging_level=logging.ERROR)
        else:
            # Without that word it would join whatever cluster was last started on this machine, whoever did.
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                log_to_driver=False,
                logging_level=logging.ERROR,
                object_store_memory=_OBJECT_STORE_BYTES,
            )
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        raise HostError(f"Ray could not be started: {error}", remedy=remedy if address else _LOCAL_REMEDY) from error
    if threading.current_thread() is threading.main_thread():
        # Ray takes this signal to exit at once; whoever called may want to end in order.
        signal.signal(signal.SIGTERM, sigterm)
    return True


_LOCAL_REMEDY = "run with the in-process executor instead, and see /tmp/ray/session_latest/logs"


def _check_reachable(address: str, remedy: str) -> None:
    """Ray itself waits for minutes on an address where nobody listens; this does not."""
    where = address
    if address == "auto":
        try:
            where = _ADDRESS_FILE.read_text("utf-8").strip()
        except OSError as error:
            raise HostError(f"{ADDRESS} is `auto`, but no Ray cluster runs on this machine", remedy=remedy) from error
    parts = urlsplit(where if "://" in where else f"//{where}")
    try:
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise HostError(f"{ADDRESS} is `{address}`, which is no address: {error}", remedy=remedy) from error
    if host is None or port is None:
        raise HostError(f"{ADDRESS} is `{address}`, which is not of the form HOST:PORT", remedy=remedy)
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise HostError(f"no Ray cluster answers at {where} ({ADDRESS}): {error}", remedy=remedy) from error
