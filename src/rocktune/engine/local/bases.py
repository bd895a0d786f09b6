"""Caches preloaded stores and clones them for runs that begin with data (docs/design/bases.md)."""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from rocktune.device import DeviceSpec
from rocktune.engine.base import RunFailed
from rocktune.engine.local.data_directory import DataDirectory, directory_bytes
from rocktune.engine.local.locks import locked
from rocktune.trial import OptionMaps
from rocktune.workload import WorkloadSpec

DEFAULT_BASE_QUOTA_BYTES = 16 << 30
"""Maximum bytes of the preloaded bases in a data directory."""

AGED_FACTOR = 3
"""Maximum ratio of an aged base, and the loaded one that it was made of, to their data."""

# RocksDB never changes such a file once it is complete, so clones can share it.
_SHARED_SUFFIXES = (".sst", ".blob")
_LEFT_OUT = ("LOCK", "LOG")
_PARTIAL_SUFFIX = ".partial"
"""Suffix of the directory of a base that is being made and can be continued."""


def base_key(workload: WorkloadSpec, options: OptionMaps, seed: int, rocksdb_version: str) -> str:
    """Returns the name of a base, equal for runs that begin with the same data in the same tree shape.

    Args:
        workload: scaled workload; only the fields that decide the data count.
        options: scaled options with which the base is made.
        seed: seed with which the base is made.
        rocksdb_version: version of RocksDB as the worker or program reports it.
    """
    fields = {"keys", "key_bytes", "value", "value_compressed_fraction", "preload", "trace"}
    data = workload.model_dump(mode="json", include=fields)
    text = json.dumps([data, options, seed, rocksdb_version], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def aged_base_key(
    workload: WorkloadSpec,
    device: DeviceSpec,
    options: OptionMaps,
    seed: int,
    rocksdb_version: str,
    rule: Sequence[float],
) -> str:
    """Returns the name of an aged base, equal for stores that were aged under the same conditions.

    Args:
        workload: scaled workload with which the base is aged.
        device: device on which it is aged.
        options: scaled options with which it is aged.
        seed: see `base_key`.
        rocksdb_version: see `base_key`.
        rule: the numbers that define when a store is aged.
    """
    conditions = [each.model_dump(mode="json", exclude={"name"}) for each in (workload, device)]
    text = json.dumps(["aged", conditions, options, seed, rocksdb_version, list(rule)], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def clean_data(path: Path) -> int:
    """Removes the runs of processes that have ended, and all bases that are not in use.

    Args:
        path: a data directory; nothing happens if it does not exist.

    Returns:
        The number of bytes removed.

    Raises:
        UserError: rocktune may not write to the directory.
    """
    if not path.exists():
        return 0
    data = DataDirectory(path)
    try:
        return data.tidied_bytes + BaseCache(data, 0).evict()
    finally:
        data.close()


class BaseCache:
    """The bases of a data directory. Over its quota it removes the least recently used ones.

    Several processes may use one directory.
    """

    def __init__(self, data: DataDirectory, quota_bytes: int) -> None:
        """Uses the bases of `data`.

        Args:
            data: the data directory.
            quota_bytes: maximum bytes of all bases. They also never take more than half of the free space.
        """
        self._data = data
        self._quota_bytes = quota_bytes

    def clone(self, key: str, make: Callable[[Path], None], target: Path) -> None:
        """Clones a base into a directory, and makes the base first if it is missing.

        Waits if another process is making the same base.

        Args:
            key: name of the base.
            make: fills an empty directory with the base; its exceptions are passed on.
            target: an empty directory on the same file system.
        """
        base = self._data.bases / key
        with locked(self._lock_of(base)):
            if not base.is_dir():
                self._make(base, make)
            # The modification time says when a base was used last, for `evict`.
            os.utime(base)
            clone_store(base, target)

    def has(self, key: str) -> bool:
        """Returns whether a base is complete."""
        return (self._data.bases / key).is_dir()

    def clone_resumable(
        self,
        key: str,
        begin: Callable[[Path], None],
        go_on: Callable[[Path], None],
        target: Path | None = None,
    ) -> None:
        """Clones a base that takes long to make, so that a kill must not lose what was done.

        Args:
            key: name of the base.
            begin: fills an empty directory with what the base begins as.
            go_on: makes the base of it. After a kill it gets the directory as it was left.
            target: see `clone`; None to make the base only.

        Raises:
            RunFailed: from `begin` or `go_on`; the directory is then removed.
        """
        base = self._data.bases / key
        with locked(self._lock_of(base)):
            if not base.is_dir():
                partial = base.with_suffix(_PARTIAL_SUFFIX)
                if not partial.is_dir():
                    self._make(partial, begin)
                try:
                    go_on(partial)
                except RunFailed:
                    shutil.rmtree(partial, ignore_errors=True)
                    raise
                partial.rename(base)
                self._keep_quota()
            os.utime(base)
            if target is not None:
                clone_store(base, target)

    def evict(self, quota_bytes: int = 0) -> int:
        """Removes the least recently used bases until the rest has at most `quota_bytes`.

        Bases that are being made or cloned stay.

        Returns:
            The number of bytes removed.
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
        """Makes a base in a directory of this process, then moves it to its final name.

        If this process is killed before, the incomplete base is removed with the process' runs.
        """
        making = self._data.new_directory()
        try:
            make(making)
            making.rename(base)
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
            raise
        self._keep_quota()

    @property
    def quota_bytes(self) -> int:
        """Maximum bytes of all bases at present."""
        possible_bytes = self._data.free_bytes() + directory_bytes(self._data.bases)
        return min(self._quota_bytes, possible_bytes // 2)

    def _keep_quota(self) -> None:
        """Removes bases beyond the quota; those in use stay."""
        self.evict(self.quota_bytes)

    def _remove(self, base: Path) -> None:
        """Removes a base whose lock the caller holds."""
        # Renamed first, so that a kill during the removal leaves no incomplete base under its name.
        grave = self._data.new_directory()
        base.rename(grave)
        shutil.rmtree(grave, ignore_errors=True)
        self._lock_of(base).unlink(missing_ok=True)

    @staticmethod
    def _lock_of(base: Path) -> Path:
        """Returns the path of a base's lock file."""
        return base.with_suffix(".lock")


def clone_store(base: Path, target: Path) -> None:
    """Clones a store: hard-links its SST and blob files, and copies the rest.

    Args:
        base: directory of a closed store.
        target: existing empty directory on the same file system.
    """
    for source in base.iterdir():
        copy = target / source.name
        if source.name.startswith(_LEFT_OUT):
            continue
        if source.suffix in _SHARED_SUFFIXES:
            # File systems without hard links, or with too many of them, get a copy.
            with suppress(OSError):
                copy.hardlink_to(source)
                continue
        shutil.copyfile(source, copy)
