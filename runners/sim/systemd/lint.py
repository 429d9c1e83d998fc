"""What systemd says of a unit file's lines when it reads them: unknown keys, values it cannot use, and so on.

Every finding names the file and the line, as in the journal and in `systemd-analyze verify`.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

TYPES = frozenset({"simple", "exec", "forking", "oneshot", "dbus", "notify", "idle"})
_RESTARTS = frozenset({"no", "always", "on-success", "on-failure", "on-abnormal", "on-abort", "on-watchdog"})
_SHARED = """
AmbientCapabilities AppArmorProfile BindPaths BindReadOnlyPaths CacheDirectory CacheDirectoryMode CapabilityBoundingSet
ConfigurationDirectory ConfigurationDirectoryMode CoredumpFilter CPUAffinity CPUSchedulingPolicy CPUSchedulingPriority
CPUSchedulingResetOnFork DynamicUser Environment EnvironmentFile ExecPaths ExecSearchPath ExtensionImages Group
IgnoreSIGPIPE InaccessiblePaths IOSchedulingClass IOSchedulingPriority IPCNamespacePath KeyringMode LimitAS LimitCORE
LimitCPU LimitDATA LimitFSIZE LimitLOCKS LimitMEMLOCK LimitMSGQUEUE LimitNICE LimitNOFILE LimitNPROC LimitRSS
LimitRTPRIO LimitRTTIME LimitSIGPENDING LimitSTACK LoadCredential LoadCredentialEncrypted LockPersonality
LogExtraFields LogLevelMax LogNamespace LogRateLimitBurst LogRateLimitIntervalSec LogsDirectory LogsDirectoryMode
MemoryDenyWriteExecute MountAPIVFS MountFlags NetworkNamespacePath Nice NoExecPaths NoNewPrivileges NUMAMask NUMAPolicy
OOMScoreAdjust PAMName PassEnvironment Personality PrivateDevices PrivateIPC PrivateMounts PrivateNetwork PrivateTmp
PrivateUsers ProcSubset ProtectClock ProtectControlGroups ProtectHome ProtectHostname ProtectKernelLogs
ProtectKernelModules ProtectKernelTunables ProtectProc ProtectSystem ReadOnlyPaths ReadWritePaths
RemoveIPC RestrictAddressFamilies RestrictFileSystems RestrictNamespaces RestrictRealtime RestrictSUIDSGID RootDirectory
RootHash RootImage RootVerity RuntimeDirectory RuntimeDirectoryMode RuntimeDirectoryPreserve SecureBits SELinuxContext
SetCredential SetLoginEnvironment StandardError StandardInput StandardInputData StandardInputText StandardOutput
StateDirectory StateDirectoryMode SupplementaryGroups SyslogFacility SyslogIdentifier SyslogLevel SyslogLevelPrefix
SystemCallArchitectures SystemCallErrorNumber SystemCallFilter SystemCallLog TemporaryFileSystem TimerSlackNSec
TTYColumns TTYPath TTYReset TTYRows TTYVHangup TTYVTDisallocate UMask UnsetEnvironment User UtmpIdentifier UtmpMode
WorkingDirectory KillMode KillSignal RestartKillSignal SendSIGHUP SendSIGKILL FinalKillSignal WatchdogSignal
AllowedCPUs AllowedMemoryNodes BlockIOAccounting BlockIOWeight CPUAccounting CPUQuota CPUQuotaPeriodSec CPUShares
CPUWeight Delegate DeviceAllow DevicePolicy DisableControllers IOAccounting IODeviceLatencyTargetSec IODeviceWeight
IOReadBandwidthMax IOReadIOPSMax IOWeight IOWriteBandwidthMax IOWriteIOPSMax IPAccounting IPAddressAllow IPAddressDeny
ManagedOOMMemoryPressure ManagedOOMMemoryPressureLimit ManagedOOMPreference ManagedOOMSwap MemoryAccounting MemoryHigh
MemoryLimit MemoryLow MemoryMax MemoryMin MemorySwapMax Slice SocketBindAllow SocketBindDeny StartupCPUShares
StartupCPUWeight StartupIOWeight TasksAccounting TasksMax
"""
_KEYS = {
    "Unit": """
Description Documentation SourcePath Requires Requisite Wants BindsTo PartOf Upholds Conflicts Before After OnFailure
OnSuccess OnFailureJobMode OnSuccessJobMode PropagatesReloadTo ReloadPropagatedFrom PropagatesStopTo StopPropagatedFrom
JoinsNamespaceOf RequiresMountsFor IgnoreOnIsolate StopWhenUnneeded RefuseManualStart RefuseManualStop AllowIsolate
DefaultDependencies CollectMode FailureAction SuccessAction FailureActionExitStatus SuccessActionExitStatus
JobTimeoutSec JobRunningTimeoutSec JobTimeoutAction JobTimeoutRebootArgument StartLimitIntervalSec StartLimitInterval
StartLimitBurst StartLimitAction RebootArgument
""",
    "Service": f"""
Type ExitType RemainAfterExit GuessMainPID PIDFile BusName ExecStart ExecStartPre ExecStartPost ExecCondition ExecReload
ExecStop ExecStopPost RestartSec TimeoutStartSec TimeoutStopSec TimeoutAbortSec TimeoutSec TimeoutStartFailureMode
TimeoutStopFailureMode RuntimeMaxSec RuntimeRandomizedExtraSec WatchdogSec Restart SuccessExitStatus
RestartPreventExitStatus RestartForceExitStatus RootDirectoryStartOnly NonBlocking NotifyAccess Sockets
FileDescriptorStoreMax USBFunctionDescriptors USBFunctionStrings OOMPolicy PermissionsStartOnly StartLimitInterval
StartLimitBurst StartLimitAction {_SHARED}
""",
    "Install": "Alias WantedBy RequiredBy Also DefaultInstance",
}
_KNOWN = {section: frozenset(names.split()) for section, names in _KEYS.items()}
_COMMANDS = frozenset({"ExecStart", "ExecStartPre", "ExecStartPost", "ExecReload", "ExecStop", "ExecStopPost"})


class Finding(NamedTuple):
    """One line's problem. `fatal`: the unit will not be started."""

    text: str
    fatal: bool = False


@lru_cache(maxsize=1024)
def findings(path: str, text: str) -> tuple[Finding, ...]:
    """Everything that is wrong with a service's file, in order. Files of other kinds are only read for their form."""
    return tuple(_findings(path, text))


def _findings(path: str, text: str) -> Iterator[Finding]:
    section = ""
    continued = False
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.strip()
        going_on, continued = continued, line.endswith("\\")
        if going_on or not line or line.startswith(("#", ";")):
            continue
        where = f"{path}:{number}: "
        if line.startswith("["):
            section = line.strip("[]")
            continue
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals:
            yield Finding(f"{where}Missing '=', ignoring line.")
        elif not section:
            yield Finding(f"{where}Assignment outside of section. Ignoring.")
        elif section in _KNOWN and path.endswith((".service", ".conf")):
            finding = _value(section, key, value)
            if finding is not None:
                yield finding._replace(text=where + finding.text)


def _value(section: str, key: str, value: str) -> Finding | None:
    if key not in _KNOWN[section] and not key.startswith(("X-", "Condition", "Assert")):
        return Finding(f"Unknown key '{key}' in section [{section}], ignoring.")
    if section != "Service" or not value:
        return None
    if key == "Type" and value not in TYPES:
        return Finding(f"Failed to parse service type, ignoring: {value}")
    if key == "Restart" and value not in _RESTARTS:
        return Finding(f"Failed to parse service restart specifier, ignoring: {value}")
    if key == "User" and value == "nobody":
        return Finding(f"Special user {value} configured, this is not safe!")
    if key in _COMMANDS:
        return _command(value)
    return None


def _command(value: str) -> Finding | None:
    line = value.lstrip("-@+!:")
    try:
        words = shlex.split(line.rstrip("\\"))
    except ValueError:
        if line.endswith("\\"):
            return None  # the quote may end on a later line
        return Finding(f'Unbalanced quoting, ignoring: "{line}"')
    if words and "/" in words[0] and not words[0].startswith(("/", "%", "$")):
        return Finding(
            f"Neither a valid executable name nor an absolute path: {words[0]}", fatal=not value.startswith("-")
        )
    return None
