"""An LSM-tree whose shape changes while it serves: RusKey's FLSM-tree (section 4) on RocksDB, in process."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from rocktune import _native
from rocktune.errors import UserError, unknown_name
from rocktune.trial import OptionMaps

PRESETS = ("aggressive", "moderate", "lazy", "lazy-leveling")
"""Static policies of section 7.1: K = 1, half of T, T; of lazy-leveling (Dostoevsky) all levels are lazy but
the deepest that holds something."""

Transition = Literal["flexible", "lazy", "greedy"]
Filters = Literal["uniform", "monkey"]
Granularity = Literal["levels", "files"]
_AT_ONCE = 256
"""Entries that cross from C++ together."""


@dataclass(frozen=True)
class FlsmLevel:
    """A logical level.

    Attributes:
        policy: K, the runs of a full level: 1 is leveling, the size ratio tiering.
        capacity_bytes: what it holds when it is full.
        run_bytes: its runs, the newest first.
        sealed: which of them take nothing more in, whatever the policy is now.
    """

    policy: int
    capacity_bytes: int
    run_bytes: tuple[int, ...]
    sealed: tuple[bool, ...]

    @property
    def held_bytes(self) -> int:
        """What it holds."""
        return sum(self.run_bytes)


@dataclass(frozen=True)
class FlsmShape:
    """What a store's tree looks like at a moment.

    Attributes:
        size_ratio: T, by how much a level is larger than the one above.
        level0_files: files that were flushed and not merged yet.
        level0_bytes: likewise.
        levels: from the first.
    """

    size_ratio: int
    level0_files: int
    level0_bytes: int
    levels: tuple[FlsmLevel, ...]

    @property
    def runs(self) -> int:
        """Sorted runs that a lookup of an absent key asks, each for its filter; smaller is better."""
        return self.level0_files + sum(len(level.run_bytes) for level in self.levels)


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
        size_ratio: int = 10,
        level1_bytes: int = 0,
        levels: int = 6,
        filters: Filters = "uniform",
        bits_per_key: float = 8.0,
        granularity: Granularity = "levels",
        workers: int = 3,
        options: OptionMaps | None = None,
    ) -> None:
        """Creates a store, or opens the one that is there with its shape and its policies.

        Args:
            path: of the store's directory.
            policies: one of `PRESETS`, or K of each level from the first, from 1 to `size_ratio`; the last
                counts for all deeper levels. Of a new store.
            size_ratio: T, from 2 to 50. Of a new store.
            level1_bytes: capacity of the first level; 0 for T write buffers. Of a new store.
            levels: at most so many, up to 12; of an existing store it can only grow.
            filters: how Bloom filters share out their memory: "uniform" over all keys, or "monkey", more for
                the smaller levels (Dayan et al., SIGMOD 2017).
            bits_per_key: of filters, on average; 0 keeps those of `options`.
            granularity: whether full levels are pushed down whole or, "files", in parts that are as cheap as
                can be, so that no compaction is large. For what is pushed from now on.
            workers: compactions at once.
            options: of RocksDB, by section ("db", "cf", "table") and by its own names.

        Raises:
            UserError: something of it makes no sense or RocksDB does not know it, or the directory has a
                RocksDB database that is no FLSM store, or a shape that cannot be read.
        """
        layout = flsm_layout(
            policies=policies, size_ratio=size_ratio, level1_bytes=level1_bytes, levels=levels,
            filters=filters, bits_per_key=bits_per_key, granularity=granularity, workers=workers,
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

    def flush(self) -> None:
        """Writes what is in memory to a file of level 0."""
        self._native.flush()

    def settle(self) -> None:
        """Returns when no compaction is due; compactions go on by themselves, so that nobody needs this."""
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


def flsm_layout(
    *,
    policies: str | Sequence[int],
    size_ratio: int,
    level1_bytes: int,
    levels: int,
    filters: Filters = "uniform",
    bits_per_key: float = 8.0,
    granularity: Granularity = "levels",
    workers: int = 3,
) -> str:
    """Returns a layout as the extension takes it; see `FlsmStore` for what each means.

    Raises:
        UserError: a name is not known.
    """
    if filters not in ("uniform", "monkey"):
        raise unknown_name("filters", filters, ("uniform", "monkey"))
    if granularity not in ("levels", "files"):
        raise unknown_name("granularity", granularity, ("levels", "files"))
    layout = {
        "policies": policies_of(policies, size_ratio, levels), "size_ratio": size_ratio,
        "level1_bytes": level1_bytes, "levels": levels, "workers": workers,
        "largest_policy": 1 if policies == "lazy-leveling" else 0,
        "bits_per_key": bits_per_key, "filters": filters, "granularity": granularity,
    }  # fmt: skip
    return json.dumps(layout)


def read_flsm_shape(path: Path | str) -> FlsmShape:
    """Returns the shape of a store, which may be open in another process; nothing is changed.

    Raises:
        UserError: there is no FLSM store, or its shape cannot be read.
    """
    if not Path(path, "FLSM").exists():
        raise UserError(f"{path}: is no FLSM store")
    try:
        return flsm_shape_of(json.loads(_native.flsm_shape(str(path))))
    except (ValueError, RuntimeError) as failure:
        raise UserError(f"{path}: {failure}") from None


def _entries(iterator: _native.FlsmIterator) -> Iterator[tuple[bytes, bytes]]:
    while part := iterator.next(_AT_ONCE):
        yield from part


def policies_of(policies: str | Sequence[int], size_ratio: int, levels: int) -> list[int]:
    """Returns K of each level that a preset or a sequence stands for; a short sequence's last one goes on.

    Raises:
        UserError: there is no such preset, or the sequence is empty.
    """
    if not isinstance(policies, str):
        if not policies:
            raise UserError("policies: must have one at least")
        return [*policies, *[policies[-1]] * (levels - len(policies))]
    if policies not in PRESETS:
        raise unknown_name("policies", policies, PRESETS)
    named = {"aggressive": 1, "moderate": max(1, size_ratio // 2)}
    return [named.get(policies, size_ratio)] * levels


def flsm_shape_of(document: Mapping[str, Any]) -> FlsmShape:
    """Returns a shape from what the extension or the worker has told of it."""
    levels = tuple(
        FlsmLevel(
            policy=level["policy"],
            capacity_bytes=level["capacity_bytes"],
            run_bytes=tuple(run["bytes"] for run in level["runs"]),
            sealed=tuple(run["sealed"] for run in level["runs"]),
        )
        for level in document["levels"]
    )
    return FlsmShape(document["size_ratio"], document["level0_files"], document["level0_bytes"], levels)
