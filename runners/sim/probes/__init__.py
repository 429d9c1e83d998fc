"""The probe types of the language on the simulated server's state.

Invariant: a probe reads state (inodes, the process table, the manager's units, the firewall) and never runs a command,
so replaced binaries, aliases, PATH, shell start-up files and `ld.so.preload` change nothing. Those that have to act
(an HTTP request, a query) do so on a fork that is thrown away: no log line, no counter, no time is left behind.

What is trusted: what a process *is* (the implementation its program's bytes stand for, which a copied name, a changed
command line or `exec -a` cannot forge), what systemd itself keeps, the journal's unit of an entry, and the clock. What
is compared with the healthy machine: who may listen on a port and what a unit's main process is (`Baseline`). What is
not trusted, because root may write it: the text of log files, for which the journal is the better witness.
"""
