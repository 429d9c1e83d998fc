#!/bin/bash
# Builds the userland that the captures are taken from: Debian 12 as a tar, from the host's own package sources.
# usage: image.sh OUT.tar        needs: root, mmdebstrap
set -euo pipefail
export SOURCE_DATE_EPOCH=1750000000
packages=(
  systemd systemd-sysv dbus nginx postgresql redis-server cron openssh-server openssh-client rsyslog
  python3 python3-psycopg2 procps iproute2 util-linux util-linux-extra bsdextrautils curl wget dnsutils iptables
  lsof psmisc netcat-openbsd net-tools openssl logrotate sudo ca-certificates less iputils-ping sysstat file kmod
  login passwd adduser gawk acl dnsmasq-base
)
mmdebstrap --variant=minbase --include="$(IFS=,; echo "${packages[*]}")" \
  --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
  --dpkgopt='path-exclude=/usr/share/locale/*' \
  --essential-hook='mkdir -p "$1/etc/postgresql-common"; echo "create_main_cluster = false" > "$1/etc/postgresql-common/createcluster.conf"' \
  --customize-hook='rm -f "$1"/etc/apt/sources.list.d/* "$1"/etc/apt/sources.list' \
  bookworm "$1" /etc/apt/sources.list.d/debian.sources
