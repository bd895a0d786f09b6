"""Claims directories for rocktune, and refuses those that it must never touch."""

from pathlib import Path

from rocktune.engine.local.locks import is_locked_by_another
from rocktune.errors import UserError
from rocktune.units import MIB

MARKER_NAME = ".rocktune-data"
"""The file without which rocktune writes and deletes nothing in a directory."""
RESERVED_FREE_BYTES = 256 * MIB
"""Bytes that rocktune leaves free on the file system, for the ledger and for other programs."""

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


def refuse_unsafe(path: Path, named: str, mend: str) -> None:
    """Refuses directories that rocktune must never claim, even if they have its marker.

    Args:
        path: absolute, without symbolic links. It may be missing.
        named: the directory in the user's words, for messages.
        mend: how to mend it, for messages.

    Raises:
        UserError: the path is a system or home directory, or it or its parent is a RocksDB database.
    """
    system = path in map(Path, _SYSTEM_DIRECTORIES) or path.parent == Path("/home") or path == Path.home()
    in_system_tree = any(path.is_relative_to(tree) for tree in _SYSTEM_TREES)
    if system or (in_system_tree and _RAM_DISK not in path.parents):
        raise UserError(f"{named}: is a system or home directory; {mend}")
    # The parent too: inside of a database, our files would lie among its own.
    for directory in (path, path.parent):
        if (directory / "CURRENT").is_file():
            live = is_locked_by_another(directory / "LOCK")
            state = ", which another process has open" if live else ""
            raise UserError(f"{named}: {directory} is a RocksDB database{state}; {mend}")


def claim(path: Path, named: str, mend: str) -> None:
    """Makes the directory and its marker, if they are missing.

    Args:
        path: see `refuse_unsafe`.
        named: see `refuse_unsafe`.
        mend: see `refuse_unsafe`.

    Raises:
        UserError: the path is not a directory, or the directory holds other files and has no marker.
        OSError: the directory cannot be made or written.
    """
    if path.exists() and not path.is_dir():
        raise UserError(f"{named}: is not a directory; {mend}")
    path.mkdir(parents=True, exist_ok=True)
    marker = path / MARKER_NAME
    if not marker.is_file():
        if any(entry != marker for entry in path.iterdir()):
            raise UserError(f"{named}: holds files that are not rocktune's; {mend}")
        marker.write_text(_MARKER_TEXT)
