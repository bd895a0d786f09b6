"""The directory in which rocktune makes and deletes stores. It writes and deletes in no other directory.

.rocktune-data      the marker, without which rocktune writes and deletes nothing
lock                held while a driver starts and removes abandoned runs
runs/DRIVER/lock    held by a driver and by the workers it started
runs/DRIVER/N/      one run
bases/KEY/          a preloaded base (see bases.py)
"""

import itertools
import os
import shutil
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path

import platformdirs

from rocktune.engine.base import RunFailed
from rocktune.engine.local.claiming import RESERVED_FREE_BYTES, claim, refuse_unsafe
from rocktune.engine.local.locks import locked
from rocktune.errors import UserError
from rocktune.trial import Status
from rocktune.units import format_bytes

DATA_VARIABLE = "ROCKTUNE_DATA"
_MEND = f"name an empty or new directory, for example with {DATA_VARIABLE}"


def default_data_directory() -> Path:
    """Returns $ROCKTUNE_DATA if set, else `rocktune/data` in the user's cache directory."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("rocktune")) / "data"


class DataDirectory:
    """A directory claimed for rocktune, and this driver's runs in it. Thread-safe.

    Attributes:
        path: absolute, without symbolic links.
        bases: directory of the preloaded bases.
        lock_descriptor: descriptor of the lock on this driver's runs. While a worker that inherited it lives,
            no other driver removes these runs, even if this driver is gone.
        tidied_bytes: bytes of abandoned runs that were removed when this object was created.
    """

    def __init__(self, path: Path) -> None:
        """Claims the directory and removes abandoned runs.

        Args:
            path: an empty or missing directory, or one that has rocktune's marker file.

        Raises:
            UserError: the directory holds other files, is a system or home directory or a RocksDB database,
                or cannot be written.
        """
        try:
            self.path = path.expanduser().resolve()
        # Symbolic links that form a loop.
        except RuntimeError as failure:
            raise UserError(f"data directory {path}: {failure}") from None
        self.bases = self.path / "bases"
        runs = self.path / "runs"
        self._numbers = itertools.count()
        self._held = ExitStack()
        try:
            named = f"data directory {self.path}"
            refuse_unsafe(self.path, named, _MEND)
            claim(self.path, named, _MEND)
            for directory in (self.bases, runs):
                directory.mkdir(exist_ok=True)
                # Through a link we would delete files outside of the directory that we claimed.
                if directory.is_symlink():
                    raise UserError(f"{named}: {directory.name} is a symbolic link; remove it")
            with locked(self.path / "lock"):
                self.tidied_bytes = _remove_abandoned(runs)
                self._runs = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=runs))
                self.lock_descriptor = self._held.enter_context(locked(self._runs / "lock"))
        except OSError as failure:
            raise UserError(
                f"data directory {self.path}: cannot be written: {failure.strerror}; {_MEND}"
            ) from None

    def new_directory(self) -> Path:
        """Makes an empty directory. If this driver is killed, the next one removes it."""
        directory = self._runs / str(next(self._numbers))
        directory.mkdir()
        return directory

    def free_bytes(self) -> int:
        """Returns the bytes that rocktune may still write; negative if less than the reserve is free."""
        return shutil.disk_usage(self.path).free - RESERVED_FREE_BYTES

    def require_free(self, needed_bytes: int) -> None:
        """Raises unless so many bytes can be written.

        Raises:
            UserError: the file system has too little free space.
        """
        free = self.free_bytes()
        if free < needed_bytes or free < 0:
            raise UserError(
                f"data directory {self.path}: {format_bytes(needed_bytes)} are needed in addition to a "
                f"reserve of {format_bytes(RESERVED_FREE_BYTES)}, and "
                f"{format_bytes(free + RESERVED_FREE_BYTES)} are free; free some, "
                f"or set {DATA_VARIABLE} to a directory elsewhere"
            )

    def allowed_bytes(self, directory: Path, limit_bytes: int) -> int:
        """Returns the maximum size of a store in bytes, including its present files.

        Args:
            directory: directory of the store.
            limit_bytes: limit of the store; 0 for the free space of the file system.

        Raises:
            RunFailed: less than the reserve is free (status `out_of_disk`).
        """
        free_bytes = self.free_bytes()
        if free_bytes <= 0:
            raise RunFailed(
                Status.OUT_OF_DISK,
                f"less than {format_bytes(RESERVED_FREE_BYTES)} are free under {self.path}",
            )
        possible_bytes = free_bytes + directory_bytes(directory)
        return min(possible_bytes, limit_bytes or possible_bytes)

    def require_within(self, directory: Path, limit_bytes: int) -> int:
        """Returns the size of a store in bytes, or raises if it is above its maximum.

        Args:
            directory: directory of the store.
            limit_bytes: limit of the store; 0 for the free space of the file system.

        Raises:
            RunFailed: the store is larger than `allowed_bytes` (status `out_of_disk`).
        """
        held_bytes = directory_bytes(directory)
        if held_bytes > self.allowed_bytes(directory, limit_bytes):
            raise RunFailed(
                Status.OUT_OF_DISK,
                f"the store takes {format_bytes(held_bytes)}; {format_bytes(limit_bytes)} are allowed",
            )
        return held_bytes

    def close(self) -> None:
        """Removes this driver's runs. Idempotent; never raises."""
        shutil.rmtree(self._runs, ignore_errors=True)
        self._held.close()


def directory_bytes(directory: Path) -> int:
    """Returns the total size of all files under a directory.

    Files that vanish during the call do not count.
    """
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += (Path(folder) / name).lstat().st_size
    return total


def _remove_abandoned(runs: Path) -> int:
    """Removes the runs whose driver and workers have all ended; returns their size in bytes."""
    removed_bytes = 0
    for directory in runs.iterdir():
        # Whoever lives of a driver and its workers holds the lock.
        with suppress(BlockingIOError), locked(directory / "lock", wait=False):
            removed_bytes += directory_bytes(directory)
            shutil.rmtree(directory, ignore_errors=True)
    return removed_bytes
