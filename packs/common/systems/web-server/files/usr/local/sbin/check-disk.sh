#!/bin/sh
# Removes exports that nobody has fetched for four hours, and says in the log when a file system is nearly full.
find /var/tmp -maxdepth 1 -type f -name 'export-*.csv' -mmin +240 -delete || exit 1
limit=90
df -P / /var/log | awk -v limit="$limit" 'NR > 1 { sub("%", "", $5); if ($5 + 0 >= limit) print $6, $5 }' |
while read -r mount used; do
    logger -p daemon.warning -t check-disk "$mount is ${used}% full"
done
