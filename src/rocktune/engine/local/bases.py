"""Preloaded stores, made once and cloned for every run that begins with one (docs/design/bases.md)."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from rocktune.engine.local.data_directory import DataDirectory, directory_bytes
from rocktune.engine.local.locks import locked
from rocktune.trial import OptionMaps
from rocktune.workload import WorkloadSpec

_SHARED_SUFFIXES = (".sst", ".blob")
_LEFT_OUT = ("LOCK", "LOG")


def base_key(workload: WorkloadSpec, options: OptionMaps, seed: int, rocksdb_version: str) -> str:
    """Returns the name of a base: equal for runs that begin with the same data in the same shape.

    Args:
        workload: scaled; of it counts what decides the data.
        options: scaled; those with which the base is made.
        seed: with which it is made.
        rocksdb_version: as the worker states it.
    """
    fields = {"keys", "key_bytes", "value", "value_compressed_fraction", "preload"}
    data = workload.model_dump(mode="json", include=fields)
    text = json.dumps([data, options, seed, rocksdb_version], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def clean_data(path: Path) -> int:
    """Removes what drivers that are gone have left in a data directory, and all bases that are not in use.

    Returns:
        Bytes removed.

    Raises:
        UserError: it is no directory that rocktune may write.
    """
    if not path.exists():
        return 0
    data = DataDirectory(path)
    try:
        return data.tidied_bytes + BaseCache(data, 0).evict()
    finally:
        data.close()


class BaseCache:
    """The bases of a data directory, under a quota; the least recently used ones go. Safe among processes."""

    def __init__(self, data: DataDirectory, quota_bytes: int) -> None:
        """Uses the bases of `data`; they may take `quota_bytes`, but no more than they leave free."""
        self._data = data
        self._quota_bytes = quota_bytes

    def clone(self, key: str, make: Callable[[Path], None], target: Path) -> None:
        """Copies a base into a directory, making the base first where it is missing.

        Another process that makes the same base is waited for.

        Args:
            key: the base's name.
            make: fills an empty directory with the base; whatever it raises is passed on.
            target: an empty directory on the same file system.
        """
        base = self._data.bases / key
        with locked(self._lock_of(base)):
            if not base.is_dir():
                self._make(base, make)
            os.utime(base)
            clone_store(base, target)

    def evict(self, quota_bytes: int = 0) -> int:
        """Removes the least recently used bases until at most `quota_bytes` are left; returns what went.

        Bases that are being made or cloned stay.
        """
        used_ns: dict[Path, int] = {}
        for base in self._data.bases.iterdir():
            with suppress(FileNotFoundError):
                if base.is_dir():
                    used_ns[base] = base.stat().st_mtime_ns
        sizes = {base: directory_bytes(base) for base in used_ns}
        left = total = sum(sizes.values())
        for base in sorted(used_ns, key=lambda base: used_ns[base]):
            if left <= quota_bytes:
                break
            # Another process may hold it, or remove it before us.
            with suppress(BlockingIOError, FileNotFoundError), locked(self._lock_of(base), wait=False):
                self._remove(base)
                left -= sizes[base]
        return total - left

    def _make(self, base: Path, make: Callable[[Path], None]) -> None:
        """Makes a base under a name that is removed should we be killed, then gives it its own."""
        making = self._data.new_directory()
        try:
            make(making)
            making.rename(base)
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
            raise
        possible_bytes = self._data.free_bytes() + directory_bytes(self._data.bases)
        self.evict(min(self._quota_bytes, possible_bytes // 2))

    def _remove(self, base: Path) -> None:
        # Renamed first, so that a kill in between leaves no half base.
        grave = self._data.new_directory()
        base.rename(grave)
        shutil.rmtree(grave, ignore_errors=True)
        self._lock_of(base).unlink(missing_ok=True)

    @staticmethod
    def _lock_of(base: Path) -> Path:
        return base.with_suffix(".lock")


def clone_store(base: Path, target: Path) -> None:
    """Links what RocksDB never changes once it is written, and copies the rest."""
    for source in base.iterdir():
        copy = target / source.name
        if source.name.startswith(_LEFT_OUT):
            continue
        if source.suffix in _SHARED_SUFFIXES:
            with suppress(OSError):
                copy.hardlink_to(source)
                continue
        shutil.copyfile(source, copy)
