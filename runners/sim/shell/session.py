"""A shell's memory: variables, functions, options, jobs. It lives on between command lines, forks and pickles."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from runners.formats.shell.ast import Function
from runners.sim.files.inode import ROOT, Cred
from runners.sim.machine import Machine, mix
from runners.text import is_digits

DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SET_OPTIONS = {
    "a": "allexport", "b": "notify", "B": "braceexpand", "C": "noclobber", "e": "errexit", "E": "errtrace",
    "f": "noglob", "h": "hashall", "H": "histexpand", "k": "keyword", "m": "monitor", "n": "noexec", "P": "physical",
    "T": "functrace", "u": "nounset", "v": "verbose", "x": "xtrace",
}  # fmt: skip
LONG_OPTIONS = frozenset(SET_OPTIONS.values()) | {"emacs", "history", "ignoreeof", "pipefail", "posix", "vi"}
SHOPT_OPTIONS = [
    "autocd",
    "assoc_expand_once",
    "cdable_vars",
    "cdspell",
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "compat31",
    "compat32",
    "compat40",
    "compat41",
    "compat42",
    "compat43",
    "compat44",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "dotglob",
    "execfail",
    "expand_aliases",
    "extdebug",
    "extglob",
    "extquote",
    "failglob",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "globstar",
    "gnu_errfmt",
    "histappend",
    "histreedit",
    "histverify",
    "hostcomplete",
    "huponexit",
    "inherit_errexit",
    "interactive_comments",
    "lastpipe",
    "lithist",
    "localvar_inherit",
    "localvar_unset",
    "login_shell",
    "mailwarn",
    "no_empty_cmd_completion",
    "nocaseglob",
    "nocasematch",
    "noexpand_translation",
    "nullglob",
    "patsub_replacement",
    "progcomp",
    "progcomp_alias",
    "promptvars",
    "restricted_shell",
    "shift_verbose",
    "sourcepath",
    "varredir_close",
    "xpg_echo",
]
_SHOPT_ON = frozenset(
    [
        "checkwinsize",
        "cmdhist",
        "complete_fullquote",
        "extquote",
        "force_fignore",
        "globasciiranges",
        "globskipdots",
        "hostcomplete",
        "interactive_comments",
        "patsub_replacement",
        "progcomp",
        "promptvars",
        "sourcepath",
    ]
)


class Variable:
    """One variable. `value`: text, a mapping for arrays (`kind` `a` indexed, `A` associative), None: declared only."""

    __slots__ = ("case", "exported", "integer", "kind", "nameref", "readonly", "value")

    def __init__(self, value: str | dict[Any, str] | None, *, kind: str = "", exported: bool = False) -> None:
        self.value = value
        self.kind = kind
        self.exported = exported
        self.readonly = False
        self.integer = False
        self.case = ""
        self.nameref = False

    def copy(self) -> Variable:
        other = Variable.__new__(Variable)
        other.value = dict(self.value) if isinstance(self.value, dict) else self.value
        other.kind = self.kind
        other.exported = self.exported
        other.readonly = self.readonly
        other.integer = self.integer
        other.case = self.case
        other.nameref = self.nameref
        return other

    def scalar(self) -> str | None:
        """The value as `$name` gives it: element 0 of an array."""
        value = self.value
        if isinstance(value, dict):
            return value.get(0 if self.kind == "a" else "0")
        return value


class BackgroundJob(NamedTuple):
    """One job of the shell. `status` is None while it runs. `inherited`: a child of the shell this one forked from."""

    number: int
    pid: int
    text: str
    status: int | None = None
    reported: bool = False
    inherited: bool = False


class Session:
    """The state of one shell process. `mode`: `interactive`, `command` (bash -c) or `script`; it words the messages.

    `pid` is `$$`; `name` is `$0`; `cred` and `umask` are what commands run with; `dialect` is `bash` or `dash`.
    """

    def __init__(
        self,
        *,
        variables: dict[str, str],
        cred: Cred = ROOT,
        cwd: str = "/",
        umask: int = 0o022,
        mode: str = "interactive",
        name: str = "bash",
        pid: int = 0,
        ppid: int = 1,
        started: float = 0.0,
        seed: int = 0,
        tty: str = "pts/0",
        dialect: str = "bash",
    ) -> None:
        self.variables: dict[str, Variable] = {
            key: Variable(value, exported=True) for key, value in variables.items()
        }  # fmt: skip
        self.functions: dict[str, Function] = {}
        self.aliases: dict[str, str] = {}
        self.cred = cred
        self.cwd = cwd
        self.umask = umask
        self.mode = mode
        self.dialect = dialect
        self.name = name
        self.pid = pid
        self.home_pid = pid
        self.ppid = ppid
        self.tty = tty
        self.login = False
        self.positional: list[str] = []
        self.options: set[str] = {"monitor"} if mode == "interactive" else set()
        self.shopt: set[str] = {"expand_aliases"} if mode == "interactive" or dialect == "dash" else set()
        self.traps: dict[str, str] = {}
        self.history: list[str] = []
        self.hashed: dict[str, str] = {}
        self.jobs: list[BackgroundJob] = []
        self.directories: list[str] = []
        self.frames: list[str] = []
        self.saved: list[dict[str, Variable | None]] = []
        self.status = 0
        self.pipe_status: tuple[int, ...] = (0,)
        self.last_background: int | None = None
        self.last_argument = name
        self.line_offset = 0
        self.source_name = name
        self.started = started
        self.seconds_base = 0
        self.random = mix(f"{seed}:{pid}:{name}")
        self.environment_cache: dict[str, str] | None = None
        # Arrays whose elements no fork can see, by name: these alone are changed in place.
        self._own_arrays: dict[str, Variable] = {}
        self.variables.setdefault("PATH", Variable(DEFAULT_PATH))
        self.variables["PWD"] = Variable(self.cwd, exported=True)
        if dialect == "dash":
            self._start_dash()
        else:
            self._start_bash()

    def _start_dash(self) -> None:
        """What dash sets by itself at its start."""
        prompt = "# " if self.cred.uid == 0 else "$ "
        for name, value in {"IFS": " \t\n", "OPTIND": "1", "PPID": str(self.ppid), "PS4": "+ "}.items():
            self.variables[name] = Variable(value)
        for name, value in {"PS1": prompt, "PS2": "> "}.items():
            self.variables.setdefault(name, Variable(value))

    def _start_bash(self) -> None:
        """What bash sets by itself at its start."""
        self.options |= {"braceexpand", "hashall"}
        self.shopt |= _SHOPT_ON
        if self.mode == "interactive":
            self.options |= {"histexpand", "history", "emacs"}
        defaults = {"IFS": " \t\n", "OPTIND": "1", "OPTERR": "1", "PS4": "+ ", "BASH": "/bin/bash"}
        defaults |= {"BASH_VERSION": "5.2.15(1)-release", "HOSTTYPE": "x86_64", "OSTYPE": "linux-gnu"}
        defaults |= {"MACHTYPE": "x86_64-pc-linux-gnu", "UID": str(self.cred.uid), "EUID": str(self.cred.uid)}
        defaults |= {"PPID": str(self.ppid)}
        for name, value in defaults.items():
            self.variables[name] = Variable(value)
        for name in ("UID", "EUID", "PPID"):
            self.variables[name].readonly = True
            self.variables[name].integer = True
        level = self.variables.get("SHLVL")
        count = int(level.value) if level and isinstance(level.value, str) and is_digits(level.value) else 0
        self.variables["SHLVL"] = Variable(str(count + 1), exported=True)
        if self.mode == "interactive":
            self.variables["PS1"] = Variable(r"\u@\h:\w\$ ")
            self.variables["PS2"] = Variable("> ")
            self.variables["HISTSIZE"] = Variable("500")
            self.variables["HISTFILESIZE"] = Variable("500")
        self.variables["BASH_VERSINFO"] = Variable(
            {0: "5", 1: "2", 2: "15", 3: "1", 4: "release", 5: "x86_64-pc-linux-gnu"}, kind="a"
        )

    def fork(self) -> Session:
        """An independent copy, as fork(2) gives a subshell. Variables are shared until one side changes them."""
        self._exported_texts()  # once here instead of in every stage of a pipeline
        other = Session.__new__(Session)
        other.__dict__.update(self.__dict__)
        other.variables = self.variables.copy()
        other.functions = self.functions.copy()
        other.aliases = self.aliases.copy()
        other.positional = self.positional.copy()
        other.options = self.options.copy()
        other.shopt = self.shopt.copy()
        other.traps = self.traps.copy()
        other.history = self.history.copy()
        other.hashed = self.hashed.copy()
        other.jobs = self.jobs.copy()
        other.directories = self.directories.copy()
        other.frames = self.frames.copy()
        other.saved = [frame.copy() for frame in self.saved]
        self._own_arrays, other._own_arrays = {}, {}
        return other

    # -- variables

    def get(self, name: str) -> str | None:
        """The text of a variable; None when it is unset. Not for `$1`, `$?` and their like."""
        variable = self.variables.get(name)
        if variable is None:
            return None
        if variable.nameref and isinstance(variable.value, str) and variable.value != name:
            return self.get(variable.value)
        return variable.scalar()

    def set(self, name: str, value: str) -> None:
        """Set a variable that the shell itself keeps (PWD, OPTARG, …), whatever its attributes."""
        known = self.variables.get(name)
        if known is None or not known.kind:
            made = known.copy() if known is not None else Variable(None, exported="allexport" in self.options)
            made.value = value
            self.variables[name] = made
        else:
            self.elements(name)[0] = value
        self.environment_cache = None

    def elements(self, name: str) -> dict[Any, str]:
        """The elements of an array, to be changed in place."""
        variable = self.variables[name]
        if self._own_arrays.get(name) is not variable:
            variable = self._own_arrays[name] = self.variables[name] = variable.copy()
        assert isinstance(variable.value, dict)
        return variable.value

    def unset(self, name: str) -> None:
        self.variables.pop(name, None)
        self.environment_cache = None

    def drop_locals(self) -> None:
        """The innermost function has ended: what its local variables hid comes back."""
        for name, known in self.saved.pop().items():
            if known is None:
                self.variables.pop(name, None)
            else:
                self.variables[name] = known
            self.environment_cache = None

    def environment(self) -> dict[str, str]:
        """A fresh dict of the exported variables."""
        return self._exported_texts().copy()

    def _exported_texts(self) -> dict[str, str]:
        cached = self.environment_cache
        if cached is None:
            cached = self.environment_cache = {
                name: variable.value
                for name, variable in self.variables.items()
                if variable.exported and isinstance(variable.value, str)
            }
        return cached

    def exported(self) -> Iterator[tuple[str, Variable]]:
        for name in sorted(self.variables):
            if self.variables[name].exported:
                yield name, self.variables[name]

    def flags(self) -> str:
        """What `$-` says."""
        letters = [letter for letter, name in SET_OPTIONS.items() if name in self.options]
        if self.dialect == "dash":
            shown = {*letters, "i"} if self.mode == "interactive" else letters
            return "".join(sorted(shown, key="ubaCvxnmifeE".find))
        order = "abefhkmnuvxBCEHPT"
        text = "".join(sorted(letters, key=order.find))
        if self.mode == "interactive":
            text = "".join(sorted(text + "i", key="abefhikmnuvxBCEHPT".find)) + "s"
        return text + ("c" if self.mode == "command" else "")

    def reseed(self, seed: int) -> None:
        """In another world `$RANDOM` gives other numbers."""
        self.random = mix(f"{seed}:{self.pid}:$RANDOM")

    def next_random(self) -> int:
        """$RANDOM: 0 to 32767, a fixed sequence for a seed."""
        self.random = (self.random * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFFF
        return (self.random >> 33) & 0x7FFF


class Limits(NamedTuple):
    """What one line may use: steps of work, bytes of output kept, virtual seconds."""

    steps: int = 3_000_000
    output_bytes: int = 1 << 16
    seconds: float = 600.0


class ShellResult(NamedTuple):
    """What a line gave. `output` interleaves both streams; `timed_out`: it used up its steps or its time (exit 124)."""

    output: bytes
    stdout: bytes
    stderr: bytes
    exit_code: int
    steps: int
    timed_out: bool
    truncated: bool


def login_session(machine: Machine, user: str, uid_cred: Cred, home: str, shell: str, *, tty: str = "pts/0") -> Session:
    """A fresh interactive log-in shell's state; its process is put in the table by the caller."""
    environment = {
        "SHELL": shell, "HOME": home, "LOGNAME": user, "USER": user, "LANG": "C.UTF-8", "TERM": "xterm-256color",
        "PATH": DEFAULT_PATH if uid_cred.uid == 0 else "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games",
    }  # fmt: skip
    return Session(
        variables=environment, cred=uid_cred, cwd=home, mode="interactive", name="-bash", pid=0,
        started=machine.clock.now, seed=machine.seed, tty=tty,
    )  # fmt: skip
