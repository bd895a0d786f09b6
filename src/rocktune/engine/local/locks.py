"""File locks that the operating system releases with the process that holds them."""

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RECORD_LOCK = "hhqqi4x"
"""The kernel's `struct flock` on 64-bit machines: type, whence, start, length, process."""


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[int]:
    """Holds an exclusive lock (flock) on a file during the context. Makes the file if it is missing.

    Processes that inherit the descriptor keep the lock until the last of them has closed it. The holder may
    remove the file.

    Args:
        path: the lock file.
        wait: wait until another holder releases the lock.

    Yields:
        The descriptor that holds the lock.

    Raises:
        BlockingIOError: another process holds the lock and `wait` is false.
        OSError: the file cannot be made.
    """
    descriptor = _acquired(path, wait)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def locked_directory(path: Path) -> Iterator[None]:
    """Holds an exclusive lock (flock) on a directory during the context, and writes nothing into it.

    Raises:
        BlockingIOError: another process holds the lock.
        OSError: the directory cannot be opened.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _acquired(path: Path, wait: bool) -> int:
    """Returns a descriptor that holds the lock on a file; see `locked`."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # While we waited, the holder may have removed the file and a third process made a new one. A lock
            # on
            # the removed file would exclude nobody.
            if path.exists() and os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def is_locked_by_another(path: Path) -> bool:
    """Returns whether another process holds a record lock (fcntl) on a file, as RocksDB does on its LOCK.

    Asks the kernel, and takes no lock: a program that opens its database in this moment must not fail. Record
    locks and `flock` do not see each other, so `locked` cannot find this out.
    """
    try:
        with path.open("rb") as file:
            asked = struct.pack(_RECORD_LOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
            answer = fcntl.fcntl(file, fcntl.F_GETLK, asked)
    except OSError:
        return False
    kind: int = struct.unpack(_RECORD_LOCK, answer)[0]
    return kind != fcntl.F_UNLCK
