"""The steady write amplification of a tree, from a model of its compactions (docs/design/steady-state.md)."""

from dataclasses import dataclass

from rocktune.lsm.leveled_tree import LeveledTree
from rocktune.lsm.tree import Tree
from rocktune.lsm.tree_shape import Amplification, TreeData, TreeShape
from rocktune.lsm.universal_tree import UniversalTree

COMPACTION_SHARE = 0.5
"""Share of the device that a compaction takes besides user writes. Fitted to long runs."""
COMPACTION_SHARE_DELAYED = 0.85
"""The same while writes are delayed, also fitted."""


@dataclass(frozen=True)
class Horizon:
    """The user writes over which a tree is modelled.

    Attributes:
        settling_turnovers: user writes as a multiple of the number of keys after which the tree counts as
            settled.
        counted_turnovers: user writes over which the amplification is counted after that, in the same unit.
        max_merges: maximum number of modelled merges, which bounds the time for trees with tiny files.
    """

    settling_turnovers: float
    counted_turnovers: float
    max_merges: int


SETTLED = Horizon(3.0, 3.0, 20_000)
"""The horizon of figures. A tree takes some 10 ms."""
ROUGH = Horizon(2.0, 2.0, 1_000)
"""A horizon that is enough to compare configurations.

Of 60 random configurations of space `full` it orders as `SETTLED` does (Spearman's correlation 0.97 with
10 and 100 million keys), in two thirds and a quarter of the time.
"""


def steady_amplification(shape: TreeShape, data: TreeData, horizon: Horizon = SETTLED) -> Amplification:
    """Returns the amplification of a tree that is overwritten for ever.

    The model keeps one compaction running while one is due, and user writes fill the rest of the device. So
    the more a configuration has to move, the more runs wait for a merge, as in a store whose device is busy.

    Args:
        shape: options of the tree.
        data: its entries.
        horizon: user writes over which it is modelled.
    """
    tree = UniversalTree(shape, data) if shape.style == "universal" else LeveledTree(shape, data)
    return _Model(tree, shape, data, horizon).settled_amplification()


class _Model:
    """A tree with the writes that arrive while it is compacted."""

    def __init__(self, tree: Tree, shape: TreeShape, data: TreeData, horizon: Horizon) -> None:
        self._tree = tree
        self._shape = shape
        self._flush_writes = shape.flush_bytes / data.entry_bytes
        self._flushed_bytes = float(data.distinct(self._flush_writes)) * data.file_entry_bytes
        # Device bytes from one flush to the next without compactions: the log, and the flush.
        self._period_bytes = shape.flush_bytes + self._flushed_bytes
        self._settling_writes = horizon.settling_turnovers * data.distinct.keys
        self._end_writes = self._settling_writes + horizon.counted_turnovers * data.distinct.keys
        self._max_merges = horizon.max_merges
        self._entry_bytes = data.entry_bytes
        self._writes = 0.0
        self._progress = 0.0

    def settled_amplification(self) -> Amplification:
        """Returns the amplification after the tree has settled, or until its writes stop for good.

        They do where `stop` is reached and no merge is due, such as for a large `min_merge_width`.
        """
        read_bytes = written_bytes = last_bytes = counted_from = 0.0
        for number in range(self._max_merges):
            if self._writes >= self._end_writes:
                break
            # A tree with very many merges counts the second half of those that are modelled.
            if not counted_from and (
                self._writes >= self._settling_writes or number >= self._max_merges // 2
            ):
                counted_from, read_bytes, written_bytes, last_bytes = self._writes, 0.0, 0.0, 0.0
            merge = self._tree.next_merge()
            if merge is None:
                if self._tree.stalling_runs >= max(self._shape.stop, self._shape.trigger):
                    break
                self._flush()
                continue
            self._write_during(merge.read_bytes + merge.written_bytes)
            merge.finish()
            read_bytes += merge.read_bytes
            written_bytes += merge.written_bytes
            last_bytes += merge.written_bytes if merge.to_last else 0.0
        # Merges alone, without a flush between them, leave nothing to divide by.
        user_bytes = max((self._writes - counted_from) * self._entry_bytes, self._shape.flush_bytes)
        flush = self._flushed_bytes / self._shape.flush_bytes
        return Amplification(
            flush, read_bytes / user_bytes, written_bytes / user_bytes, last_bytes / user_bytes
        )

    def _flush(self) -> None:
        """Lets user writes arrive until the next flush."""
        self._tree.flush(self._flush_writes)
        self._writes += self._flush_writes
        self._progress = 0.0

    def _write_during(self, moved_bytes: float) -> None:
        """Lets user writes arrive while a merge moves a number of bytes."""
        while moved_bytes > 0 and self._tree.stalling_runs < self._shape.stop:
            delayed = self._tree.stalling_runs >= self._shape.slowdown
            share = COMPACTION_SHARE_DELAYED if delayed else COMPACTION_SHARE
            moved_in_period = self._period_bytes * share / (1 - share)
            left_in_period = (1 - self._progress) * moved_in_period
            if left_in_period > moved_bytes:
                self._progress += moved_bytes / moved_in_period
                return
            moved_bytes -= left_in_period
            self._flush()
