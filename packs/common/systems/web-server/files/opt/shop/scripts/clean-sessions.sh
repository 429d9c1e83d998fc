#!/bin/sh
# Old sessions go; run by cron as shop.
find /opt/shop/sessions -type f -name 'sess_*' -mmin +240 -delete
