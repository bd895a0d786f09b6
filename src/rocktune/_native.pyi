"""The native extension: thin views of the C++ library. Its sources are in cpp/bindings."""

from collections.abc import Callable, Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

class Operations(TypedDict):
    """Operations of one thread in their order, an array of shape (count,) per field.

    Attributes:
        kind: position among get, get_absent, put, insert, delete, scan, read_modify_write,
            delete_range.
        family: position among the workload's families, 0 for a workload without.
        key: index; a get_absent's has the top bit set.
        scan_length: entries, 0 for other kinds than scan.
        value_bytes: 0 for kinds that write no value.
        intended_start_ns: nanoseconds since the run began, -1 in a closed loop.
    """

    kind: NDArray[np.uint8]
    family: NDArray[np.uint64]
    key: NDArray[np.uint64]
    scan_length: NDArray[np.uint64]
    value_bytes: NDArray[np.uint64]
    intended_start_ns: NDArray[np.int64]

def rocksdb_version() -> str:
    """Returns the version of the RocksDB library that is linked, such as "7.8.3"."""

def assertions() -> bool:
    """Tells whether that library was built with assertions, which slow it down."""

def sample_operations(workload_json: str, seed: int, thread: int, count: int) -> Operations:
    """Draws the first operations of one thread of a run that stays at age 0.

    Args:
        workload_json: a WorkloadSpec's JSON.
        seed: of the run.
        thread: below the workload's threads.
        count: how many.

    Raises:
        ValueError: the workload or the thread is wrong; one line.
        RuntimeError: `workload_json` is not JSON.
    """

class FlsmSnapshot:
    """A moment of a store, held until this is gone."""

class FlsmIterator:
    """Entries of a store in order."""

    def next(self, most: int) -> list[tuple[bytes, bytes]]:
        """Returns at most so many further entries; fewer only at the end. RuntimeError if reading fails."""

class FlsmStore:
    """`rocktune::FlsmStore`; see `rocktune.online.flsm`. Raises ValueError for nonsense or RuntimeError.

    A column family to open or create is its name, its layout as JSON, and its options as JSON. The first one
    to open is the default one, whose options are the database's too.
    """

    def __init__(self, path: str, families: list[tuple[str, str, str]]) -> None: ...
    def families(self) -> list[str]: ...
    def create_family(self, family: tuple[str, str, str]) -> None: ...
    def drop_family(self, family: str) -> None: ...
    def get(self, family: str, key: bytes, snapshot: FlsmSnapshot | None) -> bytes | None: ...
    def write(self, entries: list[tuple[str, list[tuple[bytes, bytes | None]]]], sync: bool) -> None: ...
    def snapshot(self) -> FlsmSnapshot: ...
    def iterate(
        self, family: str, snapshot: FlsmSnapshot | None, start: bytes | None, stop: bytes | None
    ) -> FlsmIterator: ...
    def flush(self, family: str) -> None: ...
    def settle(self) -> None: ...
    def set_policy(self, family: str, level: int, policy: int, transition: str) -> None: ...
    def shape(self, family: str) -> str: ...
    def statistics(self, family: str) -> str: ...
    def close(self) -> None: ...

class FlsmPilot:
    """`rocktune::FlsmPilot`; its controller is `decide`: of a mission as JSON it makes (level, policy) pairs.

    `decide` is called on a thread of the pilot's and must not raise.
    """

    def __init__(
        self, store: FlsmStore, decide: Callable[[str], Sequence[tuple[int, int]]], operations: int
    ) -> None: ...
    def stop(self) -> None: ...

class CostController:
    """`rocktune::CostController`; see `rocktune.online.control.cost`. Missions and its state are JSON.

    Raises ValueError or RuntimeError for malformed text.
    """

    def __init__(self, flush_bytes: int = 0, missions: float = 1000, half_after: float = 200) -> None: ...
    def decide(self, mission_json: str) -> list[tuple[int, int]]: ...
    def is_settled(self) -> bool: ...
    def save(self) -> str: ...
    def restore(self, text: str) -> None: ...

class FlsmSimulator:
    """`rocktune::FlsmSimulator`; see `rocktune.online.flsm`. Raises ValueError for nonsense."""

    user_bytes: int
    read_bytes: int
    written_bytes: int
    level_bytes: list[int]

    def __init__(self, layout_json: str, buffer_bytes: int, file_bytes: int, moves: bool) -> None: ...
    def write(self, count: int) -> None: ...
    def course(self, count: int, times: int) -> list[list[list[int]]]:
        """Writes `count` bytes `times` times; returns held bytes, runs, level_bytes after each, by level."""
    def set_policy(self, level: int, policy: int, transition: str) -> None: ...
    def copy(self) -> FlsmSimulator: ...
    def shape(self) -> str: ...

flsm_moves_tables: bool
"""Whether the linked RocksDB's CompactFiles moves tables that overlap nothing."""

def flsm_false_positive_rates(layout_json: str, levels: int) -> list[float]:
    """Returns how often a filter of each level lets an absent key pass, in a tree of so many full levels."""

def flsm_shape(path: str, family: str) -> str:
    """Returns the shape of a store's column family as JSON, from the store's directory."""
