#!/bin/sh
# The other machines of the network, played by one container: a name server, a cache and a port that is open.
for address in 10.0.0.2 10.0.0.21 10.0.0.22 10.0.0.31 10.0.0.41; do ip addr add "$address/24" dev eth0 2>/dev/null; done
dnsmasq --no-hosts --no-resolv --listen-address=10.0.0.2 --bind-interfaces --user=root \
  --address=/db-primary/10.0.0.21 --address=/db-replica/10.0.0.22 --address=/cache-01/10.0.0.31 \
  --address=/api.example.com/10.0.0.41 --address=/shop.example.com/10.0.0.10 --address=/web-01/10.0.0.10
redis-server --bind 10.0.0.31 --protected-mode no --daemonize yes > /dev/null
nc -lk 10.0.0.21 5432 > /dev/null 2>&1 &
nc -lk 10.0.0.22 5432 > /dev/null 2>&1 &
exec python3 -m http.server --bind 10.0.0.41 80 > /dev/null 2>&1
