"""systemctl show: the properties of a unit, and of the manager."""

from __future__ import annotations

from collections.abc import Mapping

from runners.sim.format import span
from runners.sim.journal_lines import boot_id
from runners.sim.machine import Machine
from runners.sim.systemctl import facts
from runners.sim.systemctl.timers import activates, last_trigger, next_elapse, triggered_by
from runners.sim.systemd import unitfile
from runners.sim.systemd.manager import UnitError, is_enabled, known, needs_reload, processes_of
from runners.sim.systemd.state import UnitState
from runners.sim.systemd.unitfile import ExecLine, UnitFile

_UNLIMITED = "18446744073709551615"
_SERVICE_DEFAULTS = {
    "Type": "simple",
    "Restart": "no",
    "NotifyAccess": "none",
    "RestartUSec": "100ms",
    "TimeoutStartUSec": "1min 30s",
    "TimeoutStopUSec": "1min 30s",
    "PIDFile": "",
    "KillMode": "control-group",
    "KillSignal": "15",
    "RemainAfterExit": "no",
    "LimitNOFILE": "524288",
    "LimitNOFILESoft": "1024",
    "LimitNPROC": "31480",
    "LimitCORE": "infinity",
    "MemoryMax": "infinity",
    "MemoryHigh": "infinity",
    "TasksMax": "",
    "CPUQuotaPerSecUSec": "infinity",
    "WorkingDirectory": "",
    "UMask": "0022",
    "Nice": "0",
    "OOMScoreAdjust": "0",
    "PrivateTmp": "no",
    "ProtectSystem": "no",
    "NoNewPrivileges": "no",
    "User": "",
    "Group": "",
    "SupplementaryGroups": "",
    "StandardOutput": "journal",
    "StandardError": "inherit",
    "Environment": "",
    "EnvironmentFiles": "",
    "SuccessExitStatus": "",
    "OOMPolicy": "stop",
    "SyslogIdentifier": "",
    "RuntimeDirectory": "",
    "StateDirectory": "",
    "LogsDirectory": "",
}
_DURATIONS = {
    "RestartUSec": "RestartSec",
    "TimeoutStartUSec": "TimeoutStartSec",
    "TimeoutStopUSec": "TimeoutStopSec",
    "WatchdogUSec": "WatchdogSec",
}
_LISTS = ("Requires", "Wants", "BindsTo", "PartOf", "Conflicts", "Before", "After", "Documentation")


def properties(machine: Machine, unit: UnitFile) -> Mapping[str, str]:
    """All properties in the order that they are shown."""
    state = machine.systemd.get(unit.name)
    found: dict[str, str] = {}
    if unit.kind == "service":
        found |= _service(machine, unit, state)
    elif unit.kind == "timer":
        due, last = next_elapse(machine, unit.name), last_trigger(machine, unit.name)
        found |= {
            "Unit": activates(machine, unit.name),
            "NextElapseUSecRealtime": facts.timestamp(machine, due) if due is not None else "",
            "LastTriggerUSec": facts.timestamp(machine, last) if last else "",
            "Result": state.result,
            "Persistent": unit.get("Timer", "Persistent", "no"),
        }
    return found | _unit(machine, unit, state)


def _service(machine: Machine, unit: UnitFile, state: UnitState) -> dict[str, str]:
    found = {}
    for name, default in _SERVICE_DEFAULTS.items():
        given = unit.get("Service", _DURATIONS.get(name, name))
        found[name] = _value(unit, name, given, default)
    found["Type"] = unit.type
    found["TasksMax"] = facts.tasks_limit(machine, unit)
    found["Environment"] = " ".join(value for value in unit.all("Service", "Environment"))
    found["SupplementaryGroups"] = " ".join(unit.words("Service", "SupplementaryGroups"))
    found["EnvironmentFiles"] = " ".join(
        f"{value.lstrip('-')} (ignore_errors={'yes' if value.startswith('-') else 'no'})"
        for value in unit.all("Service", "EnvironmentFile")
    )
    for key in ("ExecStartPre", "ExecStart", "ExecStartPost", "ExecReload", "ExecStop", "ExecStopPost"):
        lines = unit.commands(key)
        if lines:
            found[key] = "\n".join(_exec(machine, line, state, main=key == "ExecStart") for line in lines)
    living = processes_of(machine, unit.name)
    used = int(facts.cpu_seconds(machine, state) * 1e9)
    main_code = {"": "0", "exited": "1", "killed": "2", "dumped": "3"}[state.exit_code]
    return found | {
        "MainPID": str(state.main_pid),
        "ControlPID": "0",
        "Result": state.result,
        "NRestarts": str(state.restarts),
        "ExecMainStartTimestamp": _stamp(machine, state.exec_started),
        "ExecMainExitTimestamp": _stamp(machine, state.exec_ended),
        "ExecMainPID": str(state.exec_pid),
        "ExecMainCode": main_code,
        "ExecMainStatus": str(state.exit_status),
        "Slice": "system.slice",
        "ControlGroup": facts.cgroup(unit) if living else "",
        "MemoryCurrent": str(facts.memory(living)) if living else "[not set]",
        "CPUUsageNSec": str(used) if living or used else "[not set]",
        "TasksCurrent": str(facts.tasks(living)) if living else "[not set]",
    }


def _value(unit: UnitFile, name: str, given: str, default: str) -> str:
    if not given:
        return default
    if name in _DURATIONS:
        seconds = unitfile.timespan(given)
        return span(seconds) if seconds is not None else default
    if name in ("MemoryMax", "MemoryHigh"):
        size = unit.size("Service", name)
        return "infinity" if size is None else str(size)
    if name == "KillSignal":
        return str(unit.kill_signal)
    if name.startswith("Limit"):
        return given.split(":")[-1]
    if name == "UMask":
        return given.zfill(4)
    if given.lower() in ("true", "on", "1") and default in ("yes", "no"):
        return "yes"
    return "no" if given.lower() in ("false", "off", "0") and default in ("yes", "no") else given


def _exec(machine: Machine, line: ExecLine, state: UnitState, *, main: bool) -> str:
    started = _stamp(machine, state.exec_started) if main and state.exec_started else "n/a"
    ended = _stamp(machine, state.exec_ended) if main and state.exec_ended else "n/a"
    code = state.exit_code if main and state.exit_code else "(null)"
    status = f"{state.exit_status}/0" if not state.exit_code else str(state.exit_status)
    return (
        f"{{ path={line.path} ; argv[]={' '.join(line.argv)} ; "
        f"ignore_errors={'yes' if line.failure_ignored else 'no'} ; "
        f"start_time=[{started}] ; stop_time=[{ended}] ; pid={state.exec_pid if main else 0} ; code={code} ; "
        f"status={status if main else '0/0'} }}"
    )


def _stamp(machine: Machine, at: float) -> str:
    return facts.timestamp(machine, at) if at else ""


def _unit(machine: Machine, unit: UnitFile, state: UnitState) -> dict[str, str]:
    missing = unit.load_state == "not-found"
    found = {"Id": unit.name, "Names": unit.name}
    for key in _LISTS:
        words = list(unit.words("Unit", key))
        if unit.kind == "service" and not missing and unit.get("Unit", "DefaultDependencies", "yes") != "no":
            words += {
                "Requires": ["system.slice", "sysinit.target"],
                "Conflicts": ["shutdown.target"],
                "After": ["basic.target", "system.slice", "sysinit.target"],
                "Before": ["shutdown.target"],
            }.get(key, [])
        if words:
            found[key] = " ".join(dict.fromkeys(words))
    timers = triggered_by(machine, unit.name)
    if timers:
        found["TriggeredBy"] = " ".join(timers)
    try:
        file_state = is_enabled(machine, unit.name)
    except UnitError:
        file_state = ""
    load_error = {"not-found": f'org.freedesktop.systemd1.NoSuchUnit "Unit {unit.name} not found."',
                  "masked": f'org.freedesktop.systemd1.UnitMasked "Unit {unit.name} is masked."'}  # fmt: skip
    found |= {
        "Description": unit.description if not missing else unit.name,
        "LoadState": unit.load_state,
        "ActiveState": state.active,
        "SubState": state.sub,
        "FragmentPath": facts.shown_path(unit.path),
        "DropInPaths": " ".join(unit.drop_ins),
        "UnitFileState": file_state,
        "UnitFilePreset": facts.PRESET if file_state else "",
        "StateChangeTimestamp": _stamp(machine, state.changed),
        "InactiveExitTimestamp": _stamp(machine, state.exec_started),
        "ActiveEnterTimestamp": _stamp(machine, state.active_since),
        "ActiveExitTimestamp": _stamp(machine, state.inactive_since if state.active_since else 0.0),
        "InactiveEnterTimestamp": _stamp(machine, state.inactive_since),
        "CanStart": "no" if missing or unit.load_state != "loaded" else "yes",
        "CanStop": "yes",
        "CanReload": "yes" if unit.kind == "service" and unit.commands("ExecReload") else "no",
        "NeedDaemonReload": "yes" if needs_reload(machine, unit.name) else "no",
        "ConditionResult": "no" if state.condition_failed else "yes",
        "InvocationID": state.invocation,
    }
    if unit.load_state in load_error:
        found["LoadError"] = load_error[unit.load_state]
    return found


def manager_properties(machine: Machine) -> Mapping[str, str]:
    failed = [name for name in known(machine) if machine.systemd.get(name).active == "failed"]
    return {
        "Version": "252.22-1~deb12u1",
        "Features": "+PAM +AUDIT +SELINUX +APPARMOR +IMA +SMACK +SECCOMP +GCRYPT -GNUTLS +OPENSSL +ACL +BLKID +CURL",
        "Architecture": "x86-64",
        "KernelTimestamp": facts.timestamp(machine, machine.clock.boot),
        "UserspaceTimestamp": facts.timestamp(machine, machine.clock.boot + 2),
        "FinishTimestamp": facts.timestamp(machine, machine.clock.boot + 9),
        "NNames": str(len(known(machine))),
        "NFailedUnits": str(len(failed)),
        "NJobs": "0",
        "SystemState": "degraded" if failed else "running",
        "DefaultTimeoutStartUSec": "1min 30s",
        "DefaultTimeoutStopUSec": "1min 30s",
        "DefaultRestartUSec": "100ms",
        "BootID": boot_id(machine),
    }
