#!/bin/sh
# The other machines of the network, played by one container: gateway, name servers, a replica and a service outside.
for address in 10.0.0.2/24 10.0.0.3/24 10.0.0.4/24 10.0.0.12/24 203.0.113.20/32; do ip addr add "$address" dev eth0; done
dnsmasq --no-hosts --no-resolv --listen-address=10.0.0.2,10.0.0.3 --bind-interfaces --user=root \
  --local=/invalid/ --local=/example.com/ --domain=example.com --expand-hosts \
  --host-record=web-01,web-01.example.com,10.0.0.10 --host-record=shop.example.com,10.0.0.10 \
  --host-record=db-primary,db-primary.example.com,10.0.0.10 --host-record=db-replica,db-replica.example.com,10.0.0.12 \
  --host-record=cache-01,cache-01.example.com,10.0.0.10 --host-record=api.example.com,203.0.113.20 \
  --host-record=ntp.example.com,10.0.0.4
nc -lk 10.0.0.12 5432 > /dev/null 2>&1 &
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=api.example.com -keyout /key -out /pem 2> /dev/null
exec openssl s_server -www -accept 203.0.113.20:443 -cert /pem -key /key > /dev/null 2>&1
