#!/bin/sh
# What the container starts as process 1: make the cgroup tree that systemd wants, then become systemd.
mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 /sys/fs/cgroup || exit 1
tries=0
until mkdir /sys/fs/cgroup/init.scope 2>/dev/null; do
  tries=$((tries + 1)); [ "$tries" -gt 100 ] && exit 2; sleep 0.05
done
exec /sbin/init
