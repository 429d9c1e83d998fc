"""The shared libraries that programs are linked with, as ldd, lsof and pmap show them."""

from __future__ import annotations

from runners.sim.files.view import FileView

FOLDER, LOADER = "/lib/x86_64-linux-gnu", "/lib64/ld-linux-x86-64.so.2"
_LINKED = {
    "nginx": "libcrypt.so.1 libpcre2-8.so.0 libssl.so.3 libcrypto.so.3 libz.so.1",
    "postgres": "libz.so.1 libxml2.so.2 libpam.so.0 libssl.so.3 libcrypto.so.3 libgssapi_krb5.so.2 libm.so.6 "
    "libldap-2.5.so.0 libicui18n.so.72 libicuuc.so.72 libsystemd.so.0",
    "redis-server": "libatomic.so.1 libsystemd.so.0 libssl.so.3 libcrypto.so.3 libjemalloc.so.2 libm.so.6",
    "sshd": "libcrypt.so.1 libaudit.so.1 libpam.so.0 libsystemd.so.0 libselinux.so.1 libgssapi_krb5.so.2 libz.so.1 "
    "libcrypto.so.3",
    "cron": "libpam.so.0 libselinux.so.1",
    "rsyslogd": "libz.so.1 libestr.so.0 libfastjson.so.4 libsystemd.so.0",
    "bash": "libtinfo.so.6",
    "ls": "libselinux.so.1 libpcre2-8.so.0",
    "curl": "libcurl.so.4 libz.so.1",
    "psql": "libpq.so.5 libreadline.so.8 libm.so.6",
    "grep": "libpcre2-8.so.0",
    "sudo": "libaudit.so.1 libselinux.so.1",
}


def libraries(view: FileView, program: str) -> list[str]:
    """Paths of the libraries that a program is linked with and the system has, libc last."""
    names = [*_LINKED.get(program, "").split(), "libc.so.6"]
    return [f"{FOLDER}/{name}" for name in names if view.exists(f"{FOLDER}/{name}")]


def cached(view: FileView) -> list[str]:
    """The names that the loader finds libraries by, as ldconfig keeps them."""
    try:
        names = view.names(FOLDER)
    except OSError:
        return []
    found = (name for name in names if name.startswith("lib") and name.count(".") == 2 and ".so." in name)
    return sorted(found, reverse=True)
