"""An LSM-tree whose shape changes while it serves: RusKey's FLSM-tree (section 4) on RocksDB, in process."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from rocktune import _native
from rocktune.errors import UserError
from rocktune.online.flsm.layout import SAMPLE_EVERY, Filters, Granularity, Transition, flsm_layout
from rocktune.online.flsm.shape import FlsmShape, flsm_shape_of
from rocktune.online.flsm.statistics import FlsmStatistics, flsm_statistics_of
from rocktune.trial import OptionMaps

_AT_ONCE = 256
"""Entries that cross from C++ together."""


class FlsmSnapshot:
    """A store as it was at a moment; see `FlsmStore.snapshot`."""

    def __init__(self, store: "FlsmStore", native: _native.FlsmSnapshot) -> None:
        """Is made by `FlsmStore.snapshot`."""
        self._store, self._native = store, native

    def get(self, key: bytes) -> bytes | None:
        """Returns what the key's value was then, None if it had none."""
        return self._store._get(key, self._native)

    def items(self, start: bytes | None = None, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yields what was there then; see `FlsmStore.items`."""
        return self._store._items(start, stop, self._native)


class FlsmStore:
    """A key-value store on disk whose levels' numbers of runs can be set at any time.

    Thread-safe. One process at a time. What has failed is told as RuntimeError with RocksDB's words; a store
    whose disk was full goes on when there is room again.

        with FlsmStore("data", policies="lazy-leveling") as store:
            store.put(b"key", b"value")
            store.set_policy(level=1, policy=3)
    """

    def __init__(
        self,
        path: Path | str,
        *,
        policies: str | Sequence[int] = "aggressive",
        size_ratio: int | None = None,
        level1_bytes: int = 0,
        levels: int | None = None,
        filters: Filters = "uniform",
        bits_per_key: float = 8.0,
        granularity: Granularity = "levels",
        level0_runs: int = 10,
        workers: int = 3,
        sample_every: int = SAMPLE_EVERY,
        reshape_bytes_per_s: int = 0,
        options: OptionMaps | None = None,
    ) -> None:
        """Creates a store, or opens the one that is there with its shape and its policies.

        Args:
            path: of the store's directory.
            policies: one of `rocktune.lsm.STATIC_POLICIES`, or K of each level from the first, from 1 to
                `size_ratio`; the last counts for all deeper levels. Of a new store.
            size_ratio: T, from 2 to 50; 10 for a new store. Of an existing one no other is accepted.
            level1_bytes: capacity of the first level; 0 for T write buffers. Of a new store.
            levels: at most so many, up to 12; 6 for a new store. Of an existing one it can only grow.
            filters: how Bloom filters share out their memory: "uniform" over all keys, or "monkey", more for
                the smaller levels (Dayan et al., SIGMOD 2017).
            bits_per_key: of filters, on average; 0 keeps those of `options`.
            granularity: whether full levels are pushed down whole or, "files", in parts that are as cheap as
                can be, so that no compaction is large. For what is pushed from now on.
            level0_runs: so many files may lie in RocksDB's level 0 as runs of level 1, but no more than half
                of those with which RocksDB slows writes; 0 writes each flush into level 1 at once.
            workers: compactions at once.
            sample_every: one lookup of so many is looked at closely for `statistics`; 0 records none.
            reshape_bytes_per_s: while nothing is written, what may be read and written on average to join
                runs that a policy has become too small for; 0 leaves them until writes come.
            options: of RocksDB, by section ("db", "cf", "table") and by its own names.

        Raises:
            UserError: something of it makes no sense, is not the store's, or RocksDB does not know it, or the
                directory has a RocksDB database that is no FLSM store, or a shape that cannot be read.
        """
        layout = flsm_layout(
            policies=policies, size_ratio=size_ratio, level1_bytes=level1_bytes, levels=levels,
            filters=filters, bits_per_key=bits_per_key, granularity=granularity,
            level0_runs=level0_runs, workers=workers, sample_every=sample_every,
            reshape_bytes_per_s=reshape_bytes_per_s,
        )  # fmt: skip
        try:
            self._native = _native.FlsmStore(str(path), layout, json.dumps(options or {}))
        except (ValueError, RuntimeError) as failure:
            raise UserError(f"store {path}: {failure}") from None

    def get(self, key: bytes) -> bytes | None:
        """Returns a key's value, None if it has none."""
        return self._get(key, None)

    def put(self, key: bytes, value: bytes, *, sync: bool = False) -> None:
        """Sets a key's value; with `sync` it survives the loss of power, else that of the process."""
        self._native.write([(key, value)], sync)

    def delete(self, key: bytes, *, sync: bool = False) -> None:
        """Takes a key away, if it is there."""
        self._native.write([(key, None)], sync)

    def write(self, entries: Iterable[tuple[bytes, bytes | None]], *, sync: bool = False) -> None:
        """Writes all entries or none; one without a value is deleted, of equal keys the last one counts."""
        self._native.write(list(entries), sync)

    def items(self, start: bytes | None = None, stop: bytes | None = None) -> Iterator[tuple[bytes, bytes]]:
        """Yields entries in the order of their keys, as of now: from `start` on, before `stop`."""
        return self._items(start, stop, None)

    def snapshot(self) -> FlsmSnapshot:
        """Returns the store as it is now; held until nothing refers to it any more."""
        return FlsmSnapshot(self, self._native.snapshot())

    def set_policy(self, level: int, policy: int, transition: Transition = "flexible") -> None:
        """Sets how many runs a level has when it is full, from now on; it survives closing.

        With "lazy-leveling" the deepest level that holds something keeps one run whatever is set.

        Args:
            level: from 1.
            policy: K, from 1 (leveling: reads are cheap) to the size ratio (tiering: writes are cheap).
            transition: "flexible" leaves the runs that are there as they are (section 4.2), "lazy" waits
                until the level is full, "greedy" pushes it down at once. With files there is no "lazy".

        Raises:
            UserError: there is no such level, policy or transition.
        """
        try:
            self._native.set_policy(level, policy, transition)
        except ValueError as failure:
            raise UserError(f"policy: {failure}") from None

    def shape(self) -> FlsmShape:
        """Returns what the tree looks like now."""
        return flsm_shape_of(json.loads(self._native.shape()))

    def statistics(self) -> FlsmStatistics:
        """Returns what the store was asked for and what each level cost, since it was opened."""
        return flsm_statistics_of(json.loads(self._native.statistics()))

    def flush(self) -> None:
        """Writes what is in memory to a file of level 0."""
        self._native.flush()

    def settle(self) -> None:
        """Returns when no compaction is due; compactions go on by themselves, so that nobody needs this.

        Raises:
            RuntimeError: a compaction has failed meanwhile; it is tried again.
        """
        self._native.settle()

    def close(self) -> None:
        """Closes it; may be repeated. Files stay open as long as snapshots and iterators of it are held."""
        self._native.close()

    def __enter__(self) -> Self:
        """Returns the store, to be closed at the end."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes it."""
        self.close()

    def _get(self, key: bytes, snapshot: _native.FlsmSnapshot | None) -> bytes | None:
        return self._native.get(key, snapshot)

    def _items(
        self, start: bytes | None, stop: bytes | None, snapshot: _native.FlsmSnapshot | None
    ) -> Iterator[tuple[bytes, bytes]]:
        # Made here, not when the first entry is asked for, so that it shows the store as it is now.
        return _entries(self._native.iterate(snapshot, start, stop))


def _entries(iterator: _native.FlsmIterator) -> Iterator[tuple[bytes, bytes]]:
    while part := iterator.next(_AT_ONCE):
        yield from part
