"""The common part of modelled trees: flushes arrive while merges run."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

from rocktune.lsm.arrays import Numbers
from rocktune.lsm.tree_shape import TreeData, TreeShape


@dataclass(frozen=True)
class Merge:
    """A compaction that has been picked.

    Attributes:
        read_bytes: bytes of its inputs.
        written_bytes: bytes of its outputs.
        finish: replaces the inputs by the outputs; runs that were flushed meanwhile stay.
        to_last: whether the outputs lie in the last level, or replace the oldest run.
    """

    read_bytes: float
    written_bytes: float
    finish: Callable[[], None]
    to_last: bool = False


class Tree(ABC):
    """A tree whose sorted runs are known by the number of writes that each holds.

    A run of w writes has as many entries as there are distinct keys among them. Merging runs of successive
    writes adds their numbers of writes. The last run has infinitely many: it holds all keys.
    """

    def __init__(self, shape: TreeShape, data: TreeData) -> None:
        """Creates a tree that holds all keys in its last run."""
        self._shape = shape
        self._data = data

    @property
    @abstractmethod
    def stalling_runs(self) -> int:
        """The number of runs that RocksDB compares with the triggers of write stalls."""

    @abstractmethod
    def flush(self, writes: float) -> None:
        """Adds a run with a number of new writes."""

    @abstractmethod
    def next_merge(self) -> Merge | None:
        """Returns the merge that RocksDB would pick now; None if no compaction is due."""

    def _bytes(self, writes: Numbers) -> float:
        """Returns the total bytes of one or several runs, each spread over all keys."""
        return float(self._data.distinct(writes).sum()) * self._data.file_entry_bytes
