"""The network as one server sees it: names, firewall, sockets, requests, and the other hosts it can reach."""
