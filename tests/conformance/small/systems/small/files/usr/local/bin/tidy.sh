#!/bin/sh
touch /var/tmp/tidied
