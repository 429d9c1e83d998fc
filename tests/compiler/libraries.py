"""A small pack, built by hand, that uses every part of the language that the compiler touches."""

from __future__ import annotations

from scenario_dsl.model import (
    Answer,
    Cascade,
    Delay,
    Fault,
    FaultUse,
    Intervention,
    Invariant,
    Library,
    Objective,
    Pack,
    Parameter,
    Probe,
    Scenario,
    Seen,
    Step,
    System,
    SystemFile,
    Task,
    Variant,
)

CRASH = Fault(
    name="crash_service",
    title="A service has died",
    doc="Its main process was killed.",
    arguments=(
        Parameter(name="unit", type="unit", doc="the unit", required=True),
        Parameter(name="signal", type="string", doc="the signal", choices=("KILL", "SEGV"), default="KILL"),
    ),
    inject=(
        Task(
            name="{{ unit }} dies",
            module="command",
            arguments={"argv": ("systemctl", "kill", "--signal={{ signal }}", "{{ unit }}")},
        ),
    ),
    revert=(Task(name="it runs again", module="systemd", arguments={"name": "{{ unit }}", "state": "started"}),),
    witness=(Probe(type="unit", arguments={"name": "{{ unit }}", "state": "failed"}),),
)
WRITE = Fault(
    name="write_files",
    title="Files that should not be there",
    doc="Only files are written.",
    arguments=(
        Parameter(name="folder", type="path", doc="where", required=True),
        Parameter(name="text", type="string", doc="what", required=True),
        Parameter(name="size", type="size", doc="how much", default="1KB"),
        Parameter(name="links", type="boolean", doc="also a link", default=False),
    ),
    inject=(
        Task(name="look", module="stat", arguments={"path": "{{ folder }}/kept"}, register="kept"),
        Task(
            name="write it",
            module="copy",
            arguments={"dest": "{{ folder }}/{{ item }}", "content": "{{ text }}\n", "mode": "0640"},
            loop=("one", "two"),
        ),
        Task(
            name="change the kept one",
            module="lineinfile",
            arguments={"path": "{{ folder }}/kept", "line": "broken = {{ size }} # {{ text }}"},
            when="kept.stat.exists",
        ),
        Task(
            name="link",
            module="file",
            arguments={"path": "{{ folder }}/link", "src": "{{ folder }}/one", "state": "link"},
            when="links",
        ),
    ),
    revert=(
        Task(
            name="remove it",
            module="file",
            arguments={"path": "{{ folder }}/{{ item }}", "state": "absent"},
            loop=("one", "two", "link"),
        ),
        Task(
            name="mend the kept one",
            module="lineinfile",
            arguments={"path": "{{ folder }}/kept", "regexp": "^broken = ", "state": "absent"},
        ),
    ),
    witness=(Probe(type="file", arguments={"path": "{{ folder }}/one", "size_at_most": "{{ size }}"}),),
)
MOUNT = Fault(
    name="unmount",
    title="A file system is not mounted",
    doc="It was unmounted.",
    arguments=(Parameter(name="path", type="path", doc="where", required=True),),
    inject=(Task(name="gone", module="command", arguments={"argv": ("umount", "{{ path }}")}),),
    revert=(Task(name="back", module="command", arguments={"argv": ("mount", "{{ path }}")}),),
    witness=(Probe(type="mount", arguments={"path": "{{ path }}", "mounted": False}),),
)
NOISE = Fault(
    name="log_noise",
    title="A loud log",
    doc="It breaks nothing.",
    arguments=(Parameter(name="text", type="string", doc="the line", required=True),),
    inject=(
        Task(
            name="noise",
            module="shell",
            arguments={"cmd": "printf '%s\\n' '{{ text }}' >> /var/log/syslog"},
            ignore_errors=True,
        ),
    ),
    revert=(),
    witness=(Probe(type="log", arguments={"path": "/var/log/syslog", "matches": "{{ text | regex_escape }}"}),),
    decoy=True,
)

SYSTEM = System(
    name="web-server",
    title="A web server",
    files=(
        SystemFile(path="/etc/motd", content="Grüße\r\n\ttabs and \x01 control\n"),
        SystemFile(path="/var/log/big.log", content="line\n", size=8 * 1024**3, age=3600.5),
        SystemFile(path="/etc/link", type="link", target="motd"),
    ),
    settings={"hostname": "web-01", "memory": {"total": 8 * 1024**3}, "mounts": ({"path": "/", "size": 10**10},)},
    healthy=(Probe(type="http", arguments={"url": "http://localhost/", "status": 200}),),
)

RECOVERY = Scenario(
    name="process-recovery",
    title="The database that did not come back",
    kind="repair",
    difficulty="hard",
    split="train",
    tags=("systemd",),
    system="web-server",
    complaint="The shop, which talks to port {{ port }}, is down.",
    since=90.0,
    parameters={"unit": "postgresql", "port": 5432, "folder": "/srv/a"},
    faults=(
        FaultUse(fault="crash_service", arguments={"unit": "{{ unit }}"}, at=("faults", 0)),
        FaultUse(fault="write_files", arguments={"folder": "{{ folder }}", "text": "a {{ '{{' }} x }} b"}),
    ),
    cascades=(
        Cascade(
            name="Log Flood!",
            when=Probe(type="unit", arguments={"name": "{{ unit }}", "state": "failed"}),
            after=Delay(commands=4),
            inject=(FaultUse(fault="unmount", arguments={"path": "/var/log"}),),
            repeat=True,
        ),
    ),
    objectives=(
        Objective(name="noticed", points=0.2, check=Seen(output="failed|{{ unit }}", command="systemctl")),
        Objective(
            name="listens",
            points=0.4,
            check=Probe(type="socket", arguments={"port": "{{ port }}", "listening": True}),
            settle=5.0,
            armed_by="Log Flood!",
        ),
        Objective(name="named", points=0.4, check=Answer(question="Which unit?", equals="{{ unit }}")),
    ),
    invariants=(Invariant(name="web stays", probe=Probe(type="unit", arguments={"name": "nginx", "state": "active"})),),
    hints=("Ask about {{ unit }}.",),
    twins=(Variant(name="cache", parameters={"unit": "redis-server", "port": 6379}),),
    controls=(
        Variant(
            name="loud log",
            parameters={},
            complaint="All is well on {{ port }}.",
            instead_of_faults=(FaultUse(fault="log_noise", arguments={"text": "{{ unit }} exited"}),),
        ),
    ),
    gold=Intervention(
        name="gold",
        hypothesis="{{ unit }} died",
        falsifier="systemctl is-active {{ unit }}",
        steps=(
            Step(think="Who died?", discover="failed", run="systemctl list-units --state=failed | awk '{print $1}'"),
            Step(
                only_if='test -n "{{failed}}"', run="systemctl start {{ failed }} # {{ port }}", undo="echo {{failed}}"
            ),
            Step(discover="unit", run="echo {{ unit }}", undo="echo {{ unit }}"),
            Step(run="echo {{ unit }}"),
            Step(answer="{{ failed }}"),
        ),
    ),
    bad=(Intervention(name="reboot", steps=(Step(run="reboot"),)),),
)
INVESTIGATION = Scenario(
    name="find-the-500",
    title="The first 500",
    kind="investigation",
    difficulty="easy",
    split="heldout",
    system="web-server",
    complaint="Something went wrong. When?",
    faults=(),
    objectives=(Objective(name="when", points=0.99, check=Answer(question="When?", matches="1[23]:00")),),
    gold=Intervention(name="gold", steps=(Step(answer="12:00"),)),
)


def library(*changed: Scenario) -> Library:
    """The pack; `changed` scenarios replace those of their name, or are added."""
    scenarios = {scenario.name: scenario for scenario in (RECOVERY, INVESTIGATION, *changed)}
    return Library(
        pack=Pack(
            name="small",
            version="0.1.0",
            title="A small pack",
            license="Apache-2.0",
            canary="canary-small",
            policies=("graded-submission",),
        ),
        scenarios=scenarios,
        faults={fault.name: fault for fault in (CRASH, WRITE, MOUNT, NOISE)},
        systems={SYSTEM.name: SYSTEM},
    )
