"""Calls of the simulated runtime, as a C program makes them."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

TO_DEVICE, TO_HOST, ON_DEVICE = 1, 2, 3


class Acl:
    """libascendcl.so with pointers where they belong; calls that fail raise their status."""

    def __init__(self, device: int = 0) -> None:
        self.library = ctypes.CDLL("libascendcl.so")
        self("aclrtSetDevice", device)

    def __call__(self, name: str, *arguments: Any) -> None:
        status = self.status(name, *arguments)
        assert status == 0, (name, status, self.message())

    def status(self, name: str, *arguments: Any) -> int:
        function = self.library[name]
        return int(function(*(ctypes.c_void_p(a) if _wide(a) else a for a in arguments)))

    def message(self) -> str:
        function = self.library.aclGetRecentErrMsg
        function.restype = ctypes.c_char_p
        return (function() or b"").decode()

    def made(self, name: str, *arguments: Any) -> int:
        handle = ctypes.c_void_p()
        self(name, ctypes.byref(handle), *arguments)
        return handle.value or 0

    def upload(self, values: np.ndarray[Any, Any]) -> int:
        address = self.made("aclrtMalloc", values.nbytes, 0)
        source = values.ctypes.data
        self("aclrtMemcpy", address, values.nbytes, source, values.nbytes, TO_DEVICE)
        return address

    def download(self, address: int, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        values = np.zeros_like(like)
        self("aclrtMemcpy", values.ctypes.data, values.nbytes, address, values.nbytes, TO_HOST)
        return values


def _wide(argument: object) -> bool:
    return isinstance(argument, int) and argument > 0x7FFFFFFF
