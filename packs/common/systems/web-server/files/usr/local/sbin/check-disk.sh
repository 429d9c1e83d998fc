#!/bin/sh
# Says in the log when a file system is nearly full.
limit=90
df -P / /var/log | awk -v limit="$limit" 'NR > 1 { sub("%", "", $5); if ($5 + 0 >= limit) print $6, $5 }' |
while read -r mount used; do
    logger -p daemon.warning -t check-disk "$mount is ${used}% full"
done
