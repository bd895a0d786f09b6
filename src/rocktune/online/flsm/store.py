"""RusKey's FLSM-tree (section 4) on RocksDB, in this process: an LSM-tree whose shape can change."""

import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from rocktune import _native
from rocktune.errors import UserError
from rocktune.online.flsm.family import DEFAULT_FAMILY, FlsmFamily
from rocktune.online.flsm.layout import SAMPLE_EVERY, Filters, Granularity, Transition
from rocktune.online.flsm.shape import FlsmShape, flsm_shape_of
from rocktune.online.flsm.statistics import FlsmStatistics, flsm_statistics_of
from rocktune.trial import OptionMaps

Entries = Iterable[tuple[bytes, bytes | None]]
"""Keys with their values; None deletes the key."""
_BATCH_ENTRIES = 256
"""Entries that an iterator fetches from C++ at once; a call for each would cost more than the read."""

_Arguments = ParamSpec("_Arguments")
_Result = TypeVar("_Result")


def _explained(call: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Makes a ValueError of the extension, such as for an unknown column family, a UserError."""

    @functools.wraps(call)
    def explained(*args: _Arguments.args, **named: _Arguments.kwargs) -> _Result:
        try:
            return call(*args, **named)
        except ValueError as failure:
            raise UserError(f"store: {failure}") from None

    return explained


class FlsmSnapshot:
    """A read-only view of a store as it was at one moment; made by `FlsmStore.snapshot`."""

    def __init__(self, store: "FlsmStore", native: _native.FlsmSnapshot) -> None:
        """Called by `FlsmStore.snapshot` only."""
        self._store, self._native = store, native

    def get(self, key: bytes, *, family: str = DEFAULT_FAMILY) -> bytes | None:
        """Returns the key's value at the snapshot's moment, None if it had none."""
        return self._store._get(family, key, self._native)

    def items(
        self, start: bytes | None = None, stop: bytes | None = None, *, family: str = DEFAULT_FAMILY
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yields the entries at the snapshot's moment; see `FlsmStore.items`."""
        return self._store._items(family, start, stop, self._native)


class FlsmStore:
    """A key-value store on disk whose number of sorted runs in each level can be changed at any time.

    Thread-safe. Only one process may open a store. Failures of RocksDB raise RuntimeError with its message.
    After a full disk the store continues once there is room again.

        with FlsmStore("data", policies="lazy-leveling") as store:
            store.put(b"key", b"value")
            store.set_policy(level=1, policy=3)

    Each column family is a tree with a shape, policies and statistics of its own. Methods with the argument
    `family` concern the default one unless it is given, and raise UserError for one that does not exist.

        with FlsmStore("data", families={"users": FlsmFamily(policies="lazy")}) as store:
            store.put(b"key", b"value", family="users")
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
        max_merge_bytes: int = 0,
        options: OptionMaps | None = None,
        families: Mapping[str, FlsmFamily] | None = None,
    ) -> None:
        """Creates a store, or opens an existing one with its shape and its policies.

        Args:
            path: the store's directory.
            policies: one of `rocktune.lsm.STATIC_POLICIES`, or K of each level from the first, from 1 to
                `size_ratio`. The last K holds for all deeper levels. Used only for a new store.
            size_ratio: T, from 2 to 50; 10 for a new store. An existing store accepts only its own.
            level1_bytes: capacity of the first level in bytes; 0 for T write buffers. Used only for a new
                store.
            levels: maximum number of levels, up to 12; 6 for a new store. It can only grow.
            filters: how Bloom filters share their memory: "uniform" over all keys, or "monkey", with more for
                the smaller levels (Dayan et al., SIGMOD 2017).
            bits_per_key: mean bits of filters for each key; 0 keeps the filters of `options`.
            granularity: what a push moves: "levels" moves full levels whole. "files" moves the cheapest
                files, so that no compaction is large. Applies to later pushes.
            level0_runs: number of files that may stay in RocksDB's level 0 as runs of level 1, at most half
                of the number at which RocksDB slows writes. 0 writes each flush into level 1 at once.
            workers: number of compactions that may run at once.
            sample_every: one in this many lookups is sampled for `statistics`; 0 samples none.
            reshape_bytes_per_s: mean bytes per second that may be read and written, while the store gets no
                writes, to join runs in excess of their policy. 0 leaves them until writes come.
            max_merge_bytes: bytes above which a level is pushed in pieces, each of which reads about as many;
                a restart keeps those that are done. 0 for so many that pieces cost 1%: 100 tables with one
                run per level, more with more runs. 2**64 - 1 pushes a level in one piece.
            options: RocksDB options by section ("db", "cf", "table") and RocksDB's names. "db" counts for all
                column families, the others for the default one.
            families: further column families by name. All that the store has must be given; those that it
                does not have are created.

        Raises:
            UserError: an argument is out of range or contradicts the existing store, RocksDB does not know an
                option, the directory holds a RocksDB database that is not an FLSM store, a column family is
                missing in `families`, or the shape cannot be read.
        """
        default = FlsmFamily(
            policies=policies, size_ratio=size_ratio, level1_bytes=level1_bytes, levels=levels,
            filters=filters, bits_per_key=bits_per_key, granularity=granularity,
            level0_runs=level0_runs, workers=workers, sample_every=sample_every,
            reshape_bytes_per_s=reshape_bytes_per_s, max_merge_bytes=max_merge_bytes, options=options,
        )  # fmt: skip
        trees = [default.native(DEFAULT_FAMILY)]
        trees += [family.native(name) for name, family in (families or {}).items()]
        try:
            self._native = _native.FlsmStore(str(path), trees)
        except (ValueError, RuntimeError) as failure:
            raise UserError(f"store {path}: {failure}") from None

    @property
    def families(self) -> tuple[str, ...]:
        """Names of the column families, in alphabetical order."""
        return tuple(sorted(self._native.families()))

    @_explained
    def create_family(self, name: str, family: FlsmFamily | None = None) -> None:
        """Creates a column family; its defaults are those of `FlsmFamily`.

        Raises:
            UserError: the store has such a family, or an argument of it is out of range.
        """
        self._native.create_family((family or FlsmFamily()).native(name))

    @_explained
    def drop_family(self, name: str) -> None:
        """Drops a column family with all its entries. Its running compactions end.

        Its space is free when its iterators are gone.

        Raises:
            UserError: it is the default family, or does not exist.
        """
        self._native.drop_family(name)

    def get(self, key: bytes, *, family: str = DEFAULT_FAMILY) -> bytes | None:
        """Returns a key's value, None if there is none."""
        return self._get(family, key, None)

    def put(self, key: bytes, value: bytes, *, sync: bool = False, family: str = DEFAULT_FAMILY) -> None:
        """Sets a key's value. It survives a crash of the process, and with `sync` also a loss of power."""
        self._write([(family, [(key, value)])], sync)

    def delete(self, key: bytes, *, sync: bool = False, family: str = DEFAULT_FAMILY) -> None:
        """Deletes a key; does nothing if it is absent. `sync` as in `put`."""
        self._write([(family, [(key, None)])], sync)

    def write(self, entries: Entries, *, sync: bool = False, family: str = DEFAULT_FAMILY) -> None:
        """Writes all entries atomically; None deletes the key, and the last of equal keys wins."""
        self._write([(family, list(entries))], sync)

    def write_families(self, entries: Mapping[str, Entries], *, sync: bool = False) -> None:
        """Writes the entries of several column families, by name, atomically; see `write`."""
        self._write([(family, list(of_family)) for family, of_family in entries.items()], sync)

    def items(
        self, start: bytes | None = None, stop: bytes | None = None, *, family: str = DEFAULT_FAMILY
    ) -> Iterator[tuple[bytes, bytes]]:
        """Yields the present entries in the order of keys, from `start` (included) to `stop` (excluded)."""
        return self._items(family, start, stop, None)

    def snapshot(self) -> FlsmSnapshot:
        """Returns a snapshot of all column families; its data is kept until nothing refers to it."""
        return FlsmSnapshot(self, self._native.snapshot())

    def set_policy(
        self,
        level: int,
        policy: int,
        transition: Transition = "flexible",
        *,
        family: str = DEFAULT_FAMILY,
    ) -> None:
        """Sets the number of runs in a full level, from now on; survives closing.

        With "lazy-leveling" the deepest level in use keeps one run, whatever is set.

        Args:
            level: level, from 1.
            policy: K, from 1 (leveling: cheap reads) to the size ratio (tiering: cheap writes).
            transition: "flexible" keeps the existing runs (RusKey, section 4.2), "lazy" waits until the level
                is full, "greedy" pushes it down at once. Granularity "files" has no "lazy".
            family: column family.

        Raises:
            UserError: the level, policy, transition or family does not exist.
        """
        try:
            self._native.set_policy(family, level, policy, transition)
        except ValueError as failure:
            raise UserError(f"policy: {failure}") from None

    @_explained
    def shape(self, *, family: str = DEFAULT_FAMILY) -> FlsmShape:
        """Returns the present shape of a tree."""
        return flsm_shape_of(json.loads(self._native.shape(family)))

    @_explained
    def statistics(self, *, family: str = DEFAULT_FAMILY) -> FlsmStatistics:
        """Returns the operations served and the cost of each level since the store was opened."""
        return flsm_statistics_of(json.loads(self._native.statistics(family)))

    @_explained
    def flush(self, *, family: str = DEFAULT_FAMILY) -> None:
        """Flushes the memtable to level 0."""
        self._native.flush(family)

    def settle(self) -> None:
        """Waits until no compaction of any family is due.

        Compactions run by themselves, so only tests need this.

        Raises:
            RuntimeError: a compaction failed meanwhile; it is retried.
        """
        self._native.settle()

    def close(self) -> None:
        """Closes the store. Idempotent. Its files stay open while snapshots or iterators of it exist."""
        self._native.close()

    def __enter__(self) -> Self:
        """Returns the store; the `with` statement closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes the store."""
        self.close()

    @_explained
    def _get(self, family: str, key: bytes, snapshot: _native.FlsmSnapshot | None) -> bytes | None:
        """Returns a key's value in a snapshot, or now if it is None."""
        return self._native.get(family, key, snapshot)

    @_explained
    def _write(self, entries: list[tuple[str, list[tuple[bytes, bytes | None]]]], sync: bool) -> None:
        """Writes entries by column family in one batch."""
        self._native.write(entries, sync)

    @_explained
    def _items(
        self,
        family: str,
        start: bytes | None,
        stop: bytes | None,
        snapshot: _native.FlsmSnapshot | None,
    ) -> Iterator[tuple[bytes, bytes]]:
        """Returns an iterator over the entries of a snapshot, or of now if it is None."""
        # Created here, not inside the generator, which would start only with the first entry: writes until
        # then would be visible.
        return _entries(self._native.iterate(family, snapshot, start, stop))


def _entries(iterator: _native.FlsmIterator) -> Iterator[tuple[bytes, bytes]]:
    """Yields keys and values of a native iterator in its order, fetched in batches."""
    while part := iterator.next(_BATCH_ENTRIES):
        yield from part
