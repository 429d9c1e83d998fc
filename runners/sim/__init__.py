"""The simulated server: a Linux machine as a value.

Invariant: a machine is a handful of handles on immutable parts, so a fork costs microseconds and shares everything;
nothing reads the host's clock, files, environment, hash seed or random source, so the same seed gives the same bytes.

  files/     inodes, mounts, permissions           systemd/   units, the journal
  network/   names, firewall, sockets, requests    programs/  the daemons: nginx, postgres, redis, …
  shell/     bash's language                       commands/  one small module for each command
  tasks/     Ansible's modules on this state       probes/    the language's probe types on this state
"""
