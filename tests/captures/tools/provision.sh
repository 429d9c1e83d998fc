#!/bin/bash
# Turns the bare userland, booted with systemd, into the machine of the captures: a small shop behind nginx with
# postgres, redis, an app, a worker and cron jobs. Runs once inside the container; the result is kept as an image.
set -euo pipefail
export LANG=C.UTF-8

systemctl mask --quiet systemd-logind.service
sed -i '/imklog/d' /etc/rsyslog.conf
mkdir -p /etc/systemd/system/redis-server.service.d
printf '[Service]\nPrivateUsers=no\n' > /etc/systemd/system/redis-server.service.d/container.conf

groupadd -g 1001 shop
useradd -u 1001 -g shop -d /opt/shop -s /usr/sbin/nologin -c 'Shop application' -M shop
useradd -u 1002 -U -m -s /bin/bash -c 'Deploy user' deploy
useradd -u 1003 -U -m -s /bin/bash -G sudo,adm -c 'Alice Admin' alice
echo 'deploy ALL=(root) NOPASSWD: /usr/bin/systemctl restart shop, /usr/bin/systemctl status shop' > /etc/sudoers.d/deploy
chmod 440 /etc/sudoers.d/deploy
echo 'alice:wonderland' | chpasswd

# -- postgres: one unit that runs the server itself, so that its state is the server's
pg_createcluster 15 main --start-conf manual > /dev/null
cat > /etc/systemd/system/postgresql.service <<'UNIT'
[Unit]
Description=PostgreSQL RDBMS
Documentation=man:postgres(1)
After=network.target

[Service]
Type=notify
User=postgres
Group=postgres
RuntimeDirectory=postgresql
RuntimeDirectoryMode=2775
ExecStart=/usr/lib/postgresql/15/bin/postgres -D /var/lib/postgresql/15/main -c config_file=/etc/postgresql/15/main/postgresql.conf
ExecReload=/bin/kill -HUP $MAINPID
KillMode=mixed
KillSignal=SIGINT
TimeoutSec=60

[Install]
WantedBy=multi-user.target
UNIT
systemctl daemon-reload
systemctl enable --quiet postgresql
systemctl restart postgresql
sudo -u postgres psql -q <<'SQL'
CREATE ROLE shop LOGIN PASSWORD 'pinetree';
CREATE DATABASE shop OWNER shop;
\c shop
CREATE TABLE customers (id serial PRIMARY KEY, name text NOT NULL, email text);
CREATE TABLE orders (id serial PRIMARY KEY, customer_id integer REFERENCES customers(id), total numeric(10,2), status text, created_at timestamptz DEFAULT now());
INSERT INTO customers (name, email) SELECT 'Customer ' || n, 'customer' || n || '@example.com' FROM generate_series(1, 40) n;
INSERT INTO orders (customer_id, total, status) SELECT 1 + n % 40, n * 1.25, CASE WHEN n % 3 = 0 THEN 'paid' ELSE 'new' END FROM generate_series(1, 120) n;
ALTER TABLE customers OWNER TO shop;
ALTER TABLE orders OWNER TO shop;
SQL

# -- the application and its worker
mkdir -p /opt/shop /etc/shop /var/log/shop
cat > /etc/shop/shop.env <<'ENV'
SHOP_PORT=8000
DATABASE_URL=postgresql://shop:pinetree@127.0.0.1:5432/shop
REDIS_URL=redis://127.0.0.1:6379/0
ENV
chmod 640 /etc/shop/shop.env
chown root:shop /etc/shop/shop.env
cat > /opt/shop/app.py <<'PY'
import json, logging, os, socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
import psycopg2

logging.basicConfig(filename="/var/log/shop/app.log", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")


def redis(*words):
    with socket.create_connection(("127.0.0.1", 6379), 2) as link:
        link.sendall((" ".join(words) + "\r\n").encode())
        return link.recv(1024).decode()


class Shop(BaseHTTPRequestHandler):
    def do_GET(self):
        try:
            redis("INCR", "hits")
            with psycopg2.connect(os.environ["DATABASE_URL"], connect_timeout=2) as database:
                cursor = database.cursor()
                cursor.execute("SELECT count(*) FROM orders")
                status, body = 200, {"orders": cursor.fetchone()[0]}
            if self.path not in ("/", "/health", "/api/orders"):
                status, body = 404, {"error": "not found"}
        except Exception as error:
            logging.error("%s: %s", self.path, str(error).strip())
            status, body = 500, {"error": "internal"}
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    do_HEAD = do_GET

    def log_message(self, form, *values):
        logging.info(form, *values)


print("listening on 127.0.0.1:" + os.environ["SHOP_PORT"], flush=True)
ThreadingHTTPServer(("127.0.0.1", int(os.environ["SHOP_PORT"])), Shop).serve_forever()
PY
cat > /opt/shop/worker.py <<'PY'
import socket, time

while True:
    try:
        with socket.create_connection(("127.0.0.1", 6379), 2) as link:
            link.sendall(b"LPOP jobs\r\n")
            link.recv(1024)
    except OSError as error:
        print("redis:", error, flush=True)
    time.sleep(5)
PY
chown -R shop:shop /opt/shop /var/log/shop
for name in shop:app worker:worker; do
  unit=${name%:*} file=${name#*:}
  cat > "/etc/systemd/system/$unit.service" <<UNIT
[Unit]
Description=Shop $file
After=network.target postgresql.service redis-server.service
Wants=postgresql.service redis-server.service

[Service]
Type=simple
User=shop
Group=shop
WorkingDirectory=/opt/shop
EnvironmentFile=/etc/shop/shop.env
ExecStart=/usr/bin/python3 /opt/shop/$file.py
Restart=on-failure
RestartSec=1

[Install]
WantedBy=multi-user.target
UNIT
done

# -- nginx in front
openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj '/C=DE/O=Example Shop/CN=shop.example.com' \
  -addext 'subjectAltName=DNS:shop.example.com' -keyout /etc/ssl/private/shop.key -out /etc/ssl/certs/shop.pem 2> /dev/null
chmod 640 /etc/ssl/private/shop.key
cat > /etc/nginx/sites-available/shop <<'SITE'
upstream shop {
    server 127.0.0.1:8000;
}

server {
    listen 80 default_server;
    listen 443 ssl default_server;
    server_name shop.example.com;
    ssl_certificate /etc/ssl/certs/shop.pem;
    ssl_certificate_key /etc/ssl/private/shop.key;

    location /static/ {
        root /var/www;
    }

    location / {
        proxy_pass http://shop;
        proxy_set_header Host $host;
        proxy_connect_timeout 2s;
        proxy_read_timeout 5s;
    }
}
SITE
mkdir -p /var/www/static
echo 'body { color: #222; }' > /var/www/static/style.css
rm /etc/nginx/sites-enabled/default
ln -s /etc/nginx/sites-available/shop /etc/nginx/sites-enabled/shop

# -- jobs
cat > /opt/shop/backup.sh <<'SH'
#!/bin/sh
exec date +backup-%s > /var/tmp/shop-backup
SH
chmod 755 /opt/shop/backup.sh
cat > /etc/cron.d/shop <<'CRON'
SHELL=/bin/sh
PATH=/usr/local/sbin:/usr/local/bin:/sbin:/bin:/usr/sbin:/usr/bin
30 2 * * * root /opt/shop/backup.sh
* * * * * shop test -d /opt/shop
CRON
printf '%s\n' '# m h  dom mon dow   command' '0 3 * * 0 /usr/sbin/logrotate -f /etc/logrotate.d/shop' | crontab -
cat > /etc/logrotate.d/shop <<'ROTATE'
/var/log/shop/*.log {
    weekly
    rotate 8
    compress
    missingok
    notifempty
    su shop shop
    copytruncate
}
ROTATE
iptables-save > /dev/null

systemctl daemon-reload
systemctl enable --quiet shop worker nginx redis-server cron ssh rsyslog postgresql
systemctl restart redis-server postgresql nginx cron ssh rsyslog shop worker
sleep 2
for _ in $(seq 10); do curl -s -o /dev/null http://localhost/api/orders; done
curl -s -o /dev/null http://localhost/missing || true
systemctl is-active redis-server postgresql nginx cron ssh rsyslog shop worker
curl -sf http://localhost/health
