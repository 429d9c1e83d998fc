"""As much of libbpf as is needed, and objects that the kernel has taken: their maps, and what hooks them in."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import Any


class Failed(Exception):  # noqa: N818 (it reads as what it is)
    """It could be asked for, and was not done."""


class Library:
    def __init__(self) -> None:
        self._bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
        pointer, number = ctypes.c_void_p, ctypes.c_int
        for name, result, arguments in (
            ("bpf_object__open_mem", pointer, (pointer, ctypes.c_size_t, pointer)),
            ("bpf_object__load", number, (pointer,)),
            ("bpf_object__close", None, (pointer,)),
            ("bpf_object__find_map_by_name", pointer, (pointer, ctypes.c_char_p)),
            ("bpf_object__next_program", pointer, (pointer, pointer)),
            ("bpf_program__attach", pointer, (pointer,)),
            ("bpf_map__fd", number, (pointer,)),
            ("bpf_map__attach_struct_ops", pointer, (pointer,)),
            ("bpf_link__destroy", number, (pointer,)),
            ("bpf_map_update_elem", number, (number, pointer, pointer, ctypes.c_uint64)),
            ("bpf_map_lookup_elem", number, (number, pointer, pointer)),
            ("bpf_map_delete_elem", number, (number, pointer)),
            ("bpf_map_get_next_key", number, (number, pointer, pointer)),
        ):
            function = getattr(self._bpf, name)
            function.restype, function.argtypes = result, arguments
        self._bpf.libbpf_set_print(None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._bpf, f"bpf_{name}")


class Object:
    """One object that the kernel's verifier has passed. What is hooked in is hooked out again, or ends with this
    process."""

    def __init__(self, library: Library, data: bytes) -> None:
        self._library = library
        self._object = library.object__open_mem(data, len(data), None)
        if not self._object:
            raise Failed(f"the object cannot be opened: errno {ctypes.get_errno()}")
        self._links = list[int]()
        if library.object__load(self._object):
            failed = Failed(f"the kernel refuses the object: errno {ctypes.get_errno()}")
            library.object__close(self._object)
            raise failed

    def put(self, name: str, key: bytes, value: bytes) -> None:
        if self._library.map_update_elem(self._fd(name), key, value, 0):
            raise Failed(f"map {name} cannot be written: errno {ctypes.get_errno()}")

    def get(self, name: str, layout: str) -> tuple[Any, ...]:
        """The only entry of an array."""
        return struct.unpack(layout, self._value(name, bytes(4), struct.calcsize(layout)))

    def entries(self, name: str, key_layout: str, layout: str) -> Iterator[tuple[Any, tuple[Any, ...]]]:
        """(key, fields) of all entries of a hash, whose keys are one number each."""
        size = struct.calcsize(layout)
        for key in self._keys(name, struct.calcsize(key_layout)):
            yield struct.unpack(key_layout, key)[0], struct.unpack(layout, self._value(name, key, size))

    def empty(self, name: str, key_layout: str) -> None:
        """Remove all entries of a hash."""
        for key in list(self._keys(name, struct.calcsize(key_layout))):
            self._library.map_delete_elem(self._fd(name), key)

    def attach_struct_ops(self, name: str) -> None:
        link = self._library.map__attach_struct_ops(self._map(name))
        if not link:
            raise Failed(f"the scheduler cannot be attached: errno {ctypes.get_errno()}")
        self._links.append(link)

    def attach_programs(self) -> None:
        """Hook all programs in where their sections say."""
        program = None
        while program := self._library.object__next_program(self._object, program):
            link = self._library.program__attach(program)
            if not link:
                failed = Failed(f"a program cannot be attached: errno {ctypes.get_errno()}")
                self.detach()
                raise failed
            self._links.append(link)

    def detach(self) -> None:
        while self._links:
            self._library.link__destroy(self._links.pop())

    def _map(self, name: str) -> int:
        found = self._library.object__find_map_by_name(self._object, name.encode())
        if not found:
            raise Failed(f"the object has no map {name}")
        return int(found)

    def _fd(self, name: str) -> int:
        return int(self._library.map__fd(self._map(name)))

    def _value(self, name: str, key: bytes, size: int) -> bytes:
        room = ctypes.create_string_buffer(size)
        if self._library.map_lookup_elem(self._fd(name), key, room):
            raise Failed(f"map {name} cannot be read: errno {ctypes.get_errno()}")
        return room.raw

    def _keys(self, name: str, size: int) -> Iterator[bytes]:
        fd, room, last = self._fd(name), ctypes.create_string_buffer(size), None
        while not self._library.map_get_next_key(fd, last, room):
            last = room.raw
            yield last
