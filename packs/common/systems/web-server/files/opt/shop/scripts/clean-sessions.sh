#!/bin/sh
# Old sessions go; run by cron as shop.
cd /opt/shop/sessions && find . -type f -name 'sess_*' -mmin +240 -delete
