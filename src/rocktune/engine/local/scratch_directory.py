"""A directory of its own on a disk that the user names, for files that are removed in any case.

DIR/rocktune-measure/.rocktune-data   the marker, without which rocktune writes and deletes nothing
DIR/rocktune-measure/lock             held by the driver and by the worker it started
DIR/rocktune-measure/files/           the files
"""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rocktune.engine.local.claiming import MARKER_NAME, RESERVED_FREE_BYTES, claim, refuse_unsafe
from rocktune.engine.local.locks import locked
from rocktune.errors import UserError
from rocktune.units import format_bytes

_NAME = "rocktune-measure"
_MEND = "name an existing directory on the disk, in which you may write"


@dataclass(frozen=True)
class ScratchDirectory:
    """An empty directory that only this process and its workers use.

    Attributes:
        path: absolute, without symbolic links.
        lock_descriptor: descriptor of the lock. While a worker that inherited it lives, no other process
            removes the directory.
    """

    path: Path
    lock_descriptor: int


def checked_parent(parent: Path, needed_bytes: int) -> Path:
    """Checks, without writing, that a directory can have a scratch directory.

    Args:
        parent: the directory that the user names.
        needed_bytes: bytes that will be written at most.

    Returns:
        The absolute path without symbolic links.

    Raises:
        UserError: there is no such directory, it is a system directory or a RocksDB database, or its file
            system has too little free space.
    """
    try:
        path = parent.expanduser().resolve()
    # Symbolic links that form a loop.
    except RuntimeError as failure:
        raise UserError(f"{parent}: {failure}") from None
    try:
        if not path.is_dir():
            raise UserError(f"{parent}: is not a directory; {_MEND}")
        refuse_unsafe(path / _NAME, str(parent), _MEND)
        free_bytes = shutil.disk_usage(path).free
    except OSError as failure:
        raise UserError(f"{parent}: cannot be used: {failure.strerror}; {_MEND}") from None
    if free_bytes - RESERVED_FREE_BYTES < needed_bytes:
        raise UserError(
            f"{parent}: {format_bytes(needed_bytes)} are needed in addition to a reserve of "
            f"{format_bytes(RESERVED_FREE_BYTES)}, and {format_bytes(free_bytes)} are free; free some, "
            "or write less"
        )
    return path


@contextmanager
def scratch_directory(parent: Path) -> Iterator[ScratchDirectory]:
    """Provides an empty directory during the context and removes it afterwards.

    What a killed process left is removed first.

    Args:
        parent: a path that `checked_parent` returned.

    Raises:
        UserError: the directory cannot be written, is in use, or holds files that are not rocktune's.
    """
    path = parent / _NAME
    if path.is_symlink():
        raise UserError(f"{path}: is a symbolic link; remove it")
    with ExitStack() as held:
        try:
            claim(path, str(path), "remove or rename it")
            descriptor = held.enter_context(locked(path / "lock", wait=False))
            held.callback(_remove, path)
            _remove_files(path)
            (path / "files").mkdir()
        except BlockingIOError:
            raise UserError(f"{path}: another measurement uses it; wait until that has ended") from None
        except OSError as failure:
            raise UserError(f"{parent}: cannot be written: {failure.strerror}; {_MEND}") from None
        yield ScratchDirectory(path / "files", descriptor)


def _remove_files(path: Path) -> None:
    """Removes the files of a scratch directory, if there are any."""
    with suppress(FileNotFoundError):
        shutil.rmtree(path / "files")


def _remove(path: Path) -> None:
    """Removes a scratch directory.

    Raises:
        UserError: it cannot be removed.
    """
    try:
        _remove_files(path)
        # The marker goes last: without it, the next measurement would take what is left for the user's.
        for name in ("lock", MARKER_NAME):
            (path / name).unlink(missing_ok=True)
        path.rmdir()
    except OSError as failure:
        raise UserError(f"{path}: cannot be removed: {failure.strerror}; remove it") from None
