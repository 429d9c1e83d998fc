#!/bin/bash
# Nightly dump of the shop's database. Run by cron as postgres; keeps a fortnight.
set -euo pipefail

target=/var/backups/postgresql
stamp=$(date +%F)

pg_dump --format=custom --file="$target/shop-$stamp.dump" shop
find "$target" -name 'shop-*.dump' -mtime +14 -delete
logger -t backup-shop "dump of shop written to $target/shop-$stamp.dump"
