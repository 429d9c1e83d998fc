"""What curl 7.88 knows by name: its options, short and long, and what it says of itself."""

from __future__ import annotations

VALUE = {
    "o": "output",
    "X": "request",
    "d": "data",
    "H": "header",
    "m": "max-time",
    "w": "write-out",
    "x": "proxy",
    "A": "user-agent",
    "u": "user",
    "b": "cookie",
    "c": "cookie-jar",
    "e": "referer",
    "T": "upload-file",
    "F": "form",
    "D": "dump-header",
    "r": "range",
    "E": "cert",
    "K": "config",
    "y": "speed-time",
    "Y": "speed-limit",
    "z": "time-cond",
    "C": "continue-at",
}
FLAG = {
    "s": "silent", "S": "show-error", "I": "head", "i": "include", "v": "verbose", "f": "fail", "k": "insecure",
    "L": "location", "O": "remote-name", "G": "get", "g": "globoff", "4": "ipv4", "6": "ipv6", "N": "no-buffer",
    "#": "progress-bar", "0": "http1.0", "q": "disable", "J": "remote-header-name", "R": "remote-time", "n": "netrc",
    "V": "version", "h": "help", "p": "proxytunnel", "a": "append", "j": "junk-session-cookies", "Z": "parallel",
}  # fmt: skip
LONG_VALUE = frozenset(
    {
        *VALUE.values(),
        "connect-timeout",
        "resolve",
        "connect-to",
        "data-raw",
        "data-binary",
        "data-urlencode",
        "json",
        "cacert",
        "capath",
        "key",
        "retry",
        "retry-delay",
        "retry-max-time",
        "max-redirs",
        "interface",
        "limit-rate",
        "noproxy",
        "url",
        "unix-socket",
        "ciphers",
        "tls-max",
        "proto",
        "dns-servers",
        "max-filesize",
        "stderr",
        "trace",
        "trace-ascii",
        "keepalive-time",
        "expect100-timeout",
        "cert-type",
        "pass",
        "oauth2-bearer",
        "local-port",
        "output-dir",
    }
)
LONG_FLAG = frozenset(
    {
        *FLAG.values(),
        "fail-with-body",
        "fail-early",
        "compressed",
        "http1.1",
        "http2",
        "tlsv1.2",
        "tlsv1.3",
        "no-progress-meter",
        "path-as-is",
        "retry-connrefused",
        "retry-all-errors",
        "create-dirs",
        "anyauth",
        "basic",
        "digest",
        "ssl-reqd",
        "location-trusted",
        "post301",
        "post302",
        "no-keepalive",
        "raw",
        "http2-prior-knowledge",
        "styled-output",
        "no-alpn",
        "remote-name-all",
        "disable-epsv",
        "proxy-insecure",
        "ssl-no-revoke",
        "tcp-nodelay",
        "no-styled-output",
    }
)
VERSION = (
    "curl 7.88.1 (x86_64-pc-linux-gnu) libcurl/7.88.1 OpenSSL/3.0.11 zlib/1.2.13 brotli/1.0.9 zstd/1.5.4 libidn2/2.3.3 "
    "libpsl/0.21.2 (+libidn2/2.3.3) libssh2/1.10.0 nghttp2/1.52.0 librtmp/2.3 OpenLDAP/2.5.13\n"
    "Release-Date: 2023-02-20, security patched: 7.88.1-10+deb12u8\n"
    "Protocols: dict file ftp ftps gopher gophers http https imap imaps ldap ldaps mqtt pop3 pop3s rtmp rtsp scp sftp "
    "smb smbs smtp smtps telnet tftp\n"
    "Features: alt-svc AsynchDNS brotli GSS-API HSTS HTTP2 HTTPS-proxy IDN IPv6 Kerberos Largefile "
    "libz NTLM PSL SPNEGO "
    "SSL threadsafe TLS-SRP UnixSockets zstd\n"
)
HELP = """Usage: curl [options...] <url>
 -d, --data <data>          HTTP POST data
 -f, --fail                 Fail fast with no output on HTTP errors
 -H, --header <header>      Pass custom header(s) to server
 -h, --help <category>      Get help for commands
 -I, --head                 Show document info only
 -i, --include              Include protocol response headers in the output
 -k, --insecure             Allow insecure server connections
 -L, --location             Follow redirects
 -m, --max-time <seconds>   Maximum time allowed for transfer
 -o, --output <file>        Write to file instead of stdout
 -O, --remote-name          Write output to a file named as the remote file
 -s, --silent               Silent mode
 -S, --show-error           Show error even when -s is used
 -u, --user <user:password> Server user and password
 -v, --verbose              Make the operation more talkative
 -w, --write-out <format>   Use output FORMAT after completion
 -X, --request <method>     Specify request method to use
"""
