#!/usr/bin/python3
"""The site: one page, and whether it is well."""
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Site(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"ok\n" if self.path == "/health" else b"<h1>Welcome to the edge</h1>\n"
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *values):
        pass


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Site).serve_forever()
