#!/bin/bash
# Turns the bare userland, booted with systemd, into the machine of the captures: the described system's files (from
# /root/tree.tar and /root/furnish.sh, which furnish.py writes) around real services. Runs once inside the container; the result is kept as an image.
set -euo pipefail
export LANG=C.UTF-8

tar -xf /root/tree.tar -C / --exclude=etc/postgresql
sed -i '/imklog/d' /etc/rsyslog.conf
systemctl mask --quiet systemd-logind.service

# -- postgres: one unit that runs the server itself, so that its state is the server's
pg_createcluster 15 main --start-conf manual > /dev/null
# The cluster is made with the package's own settings; ours are those of the described system.
tar -xf /root/tree.tar -C / etc/postgresql
rm -f /lib/systemd/system-generators/postgresql-generator   # it would start the cluster beside the unit
bash -e /root/furnish.sh
systemctl daemon-reload
systemctl stop 'postgresql@*'
systemctl enable --quiet postgresql
systemctl restart postgresql
sudo -u postgres psql -q < /root/tables.sql > /dev/null

# -- programs that answer as the described ones do
mkdir -p /opt/shop/bin
cat > /opt/shop/bin/shop-server <<'PY'
#!/usr/bin/python3
import json, logging, os, socket, sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit
import psycopg2

missing = [name for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY_FILE", "LOG_FILE") if not os.environ.get(name)]
if missing:
    print(f"shop-server: configuration error: missing required setting: {missing[0]}", file=sys.stderr)
    sys.exit(78)
logging.basicConfig(filename=os.environ["LOG_FILE"], level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
host, port = os.environ.get("LISTEN", "127.0.0.1:8000").split(":")


def count(table):
    with psycopg2.connect(os.environ["DATABASE_URL"], connect_timeout=2) as database:
        cursor = database.cursor()
        cursor.execute(f"SELECT count(*) FROM {table}")
        return cursor.fetchone()[0]


def ping():
    cache = urlsplit(os.environ["REDIS_URL"])
    with socket.create_connection((cache.hostname, cache.port or 6379), 2) as link:
        link.sendall(b"PING\r\n")
        return link.recv(64)


def works(check):
    try:
        check()
        return "ok"
    except Exception as error:
        logging.error(str(error).strip())
        return "failed"


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        kind, status = "application/json", 200
        if self.path == "/":
            kind, body = "text/html; charset=utf-8", "<!doctype html>\n<title>Northwind Coffee</title>\n"
        elif self.path == "/health":
            states = {"database": works(lambda: count("orders")), "cache": works(ping)}
            healthy = set(states.values()) == {"ok"}
            status = 200 if healthy else 503
            body = json.dumps({"status": "ok" if healthy else "degraded", **states})
        elif self.path in ("/api/orders", "/api/products"):
            try:
                body = json.dumps({"count": count(self.path[5:])})
            except Exception as error:
                logging.error("%s: %s", self.path, str(error).strip())
                status, body = 502, json.dumps({"error": "bad gateway"})
        else:
            status, body = 404, json.dumps({"error": "not found"})
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_HEAD = do_GET

    def log_message(self, form, *values):
        logging.info(form, *values)


ThreadingHTTPServer((host, int(port)), Shop).serve_forever()
PY
cat > /opt/shop/bin/shop-worker <<'PY'
#!/usr/bin/python3
import os, socket, time
from urllib.parse import urlsplit

cache = urlsplit(os.environ["REDIS_URL"])
while True:
    try:
        with socket.create_connection((cache.hostname, cache.port or 6379), 2) as link:
            link.sendall(b"LPOP orders:pending\r\n")
            link.recv(1024)
    except OSError:
        pass
    time.sleep(5)
PY
cat > /usr/local/bin/node_exporter <<'PY'
#!/usr/bin/python3
from http.server import HTTPServer, SimpleHTTPRequestHandler

HTTPServer(("127.0.0.1", 9100), SimpleHTTPRequestHandler).serve_forever()
PY
chmod 755 /opt/shop/bin/* /usr/local/bin/node_exporter

rm -f /etc/nginx/sites-enabled/default
iptables-restore /root/rules



systemctl daemon-reload
systemctl enable --quiet shop worker node-exporter nginx redis-server cron ssh rsyslog postgresql
systemctl restart redis-server postgresql nginx cron ssh rsyslog node-exporter shop worker
sleep 2
for _ in $(seq 10); do curl -s -o /dev/null http://localhost/api/orders; done
curl -s -o /dev/null http://localhost/missing || true
systemctl is-active redis-server postgresql nginx cron ssh rsyslog shop worker
curl -sf http://localhost/health
redis-cli mset cart:views 18402 flags:banner spring > /dev/null
sleep $((62 - $(date +%-S)))   # cron has run something
journalctl --rotate --vacuum-time=1s --quiet || true
