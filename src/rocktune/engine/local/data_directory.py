"""The one directory that rocktune writes stores into and deletes them from, and how it stays the only one.

.rocktune-data      the marker, without which rocktune writes and deletes nothing
lock                held while drivers come and tidy up
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
from rocktune.engine.local.locks import is_locked_by_another, locked
from rocktune.errors import UserError
from rocktune.trial import Status
from rocktune.units import MIB, format_bytes

DATA_VARIABLE = "ROCKTUNE_DATA"
MARKER_NAME = ".rocktune-data"
RESERVED_FREE_BYTES = 256 * MIB
"""What stays free on the file system, for the ledger and everybody else."""

_MARKER_TEXT = "rocktune keeps its stores in this directory and deletes whatever lies in it.\n"
_SYSTEM_TREES = (
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/proc",
    "/sbin",
    "/sys",
    "/usr",
)
_SYSTEM_DIRECTORIES = ("/", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/srv", "/tmp", "/var")
_RAM_DISK = Path("/dev/shm")
_MEND = f"name an empty or new directory, for example with {DATA_VARIABLE}"


def default_data_directory() -> Path:
    """Returns $ROCKTUNE_DATA, or `rocktune/data` in the user's cache directory."""
    named = os.environ.get(DATA_VARIABLE)
    return Path(named) if named else Path(platformdirs.user_cache_dir("rocktune")) / "data"


class DataDirectory:
    """A directory claimed for rocktune, and this driver's runs in it. Thread-safe.

    Attributes:
        path: absolute, without symbolic links.
        bases: where preloaded bases are.
        lock_descriptor: holds this driver's runs; a worker that inherits it keeps them from being tidied
            away while it lives.
        tidied_bytes: what drivers that are gone had left, and was removed.
    """

    def __init__(self, path: Path) -> None:
        """Claims the directory and removes the runs of drivers that are gone.

        Raises:
            UserError: it is not rocktune's and not empty, a system's or home directory, a RocksDB database,
                or cannot be written.
        """
        try:
            self.path = path.expanduser().resolve()
        except RuntimeError as failure:
            raise UserError(f"data directory {path}: {failure}") from None
        self.bases = self.path / "bases"
        runs = self.path / "runs"
        self._numbers = itertools.count()
        self._held = ExitStack()
        try:
            _refuse_unsafe(self.path)
            _claim(self.path)
            for directory in (self.bases, runs):
                directory.mkdir(exist_ok=True)
                if directory.is_symlink():
                    raise UserError(
                        f"data directory {self.path}: {directory.name} is a symbolic link; remove it"
                    )
            with locked(self.path / "lock"):
                self.tidied_bytes = _remove_abandoned(runs)
                self._runs = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=runs))
                self.lock_descriptor = self._held.enter_context(locked(self._runs / "lock"))
        except OSError as failure:
            raise UserError(
                f"data directory {self.path}: cannot be written: {failure.strerror}; {_MEND}"
            ) from None

    def new_directory(self) -> Path:
        """Makes an empty directory that goes when this driver goes, however it ends."""
        directory = self._runs / str(next(self._numbers))
        directory.mkdir()
        return directory

    def free_bytes(self) -> int:
        """Returns what may be written on the file system; below 0 when the reserve is touched."""
        return shutil.disk_usage(self.path).free - RESERVED_FREE_BYTES

    def require_free(self, needed_bytes: int) -> None:
        """Makes sure that so much can be written.

        Raises:
            UserError: it cannot.
        """
        free = self.free_bytes()
        if free < needed_bytes or free < 0:
            raise UserError(
                f"data directory {self.path}: {format_bytes(needed_bytes)} are needed beside a reserve "
                f"of {format_bytes(RESERVED_FREE_BYTES)}, and {format_bytes(free + RESERVED_FREE_BYTES)} "
                f"are free; free some, or set {DATA_VARIABLE} to a directory elsewhere"
            )

    def allowed_bytes(self, directory: Path, limit_bytes: int) -> int:
        """Returns the bytes that a store may come to, what its directory holds already included.

        Args:
            directory: of the store.
            limit_bytes: of the store; 0 for what the file system has.

        Raises:
            RunFailed: nothing may be written (status `out_of_disk`).
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
        """Returns what a store takes, while the file system and its limit have room for more.

        Args:
            directory: of the store.
            limit_bytes: of the store; 0 for what the file system has.

        Raises:
            RunFailed: they have not (status `out_of_disk`).
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
    """Returns the size of all files under a directory; files that vanish meanwhile count nothing."""
    total = 0
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += (Path(folder) / name).lstat().st_size
    return total


def _refuse_unsafe(path: Path) -> None:
    """Refuses what must never be claimed, marker or not."""
    system = path in map(Path, _SYSTEM_DIRECTORIES) or path.parent == Path("/home") or path == Path.home()
    in_system_tree = any(path.is_relative_to(tree) for tree in _SYSTEM_TREES)
    if system or (in_system_tree and _RAM_DISK not in path.parents):
        raise UserError(f"data directory {path}: a system's or home directory; {_MEND}")
    for directory in (path, path.parent):
        if (directory / "CURRENT").is_file():
            live = is_locked_by_another(directory / "LOCK")
            state = ", which another process has open" if live else ""
            raise UserError(f"data directory {path}: {directory} is a RocksDB database{state}; {_MEND}")


def _claim(path: Path) -> None:
    if path.exists() and not path.is_dir():
        raise UserError(f"data directory {path}: not a directory; {_MEND}")
    path.mkdir(parents=True, exist_ok=True)
    marker = path / MARKER_NAME
    if not marker.is_file():
        if any(entry != marker for entry in path.iterdir()):
            raise UserError(f"data directory {path}: holds files that are not rocktune's; {_MEND}")
        marker.write_text(_MARKER_TEXT)


def _remove_abandoned(runs: Path) -> int:
    """Removes the runs whose driver and workers are gone; returns their bytes."""
    removed_bytes = 0
    for directory in runs.iterdir():
        with suppress(BlockingIOError), locked(directory / "lock", wait=False):
            removed_bytes += directory_bytes(directory)
            shutil.rmtree(directory, ignore_errors=True)
    return removed_bytes
