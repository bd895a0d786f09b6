"""A tree under leveled compaction: levels of slices of the key space, and RocksDB's picks by score."""

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm.arrays import Numbers, Reals
from rocktune.lsm.tree import Merge, Tree
from rocktune.lsm.tree_shape import TreeData, TreeShape

SLICES = 256
"""Number of slices of the key space; a file covers one or several of them."""


class LeveledTree(Tree):
    """Level 0 with overlapping files, and levels whose files do not overlap.

    The level with the highest score is compacted first. Of a level that file goes down which overlaps least
    with the next level (`kMinOverlappingRatio`). A merge rewrites one file more of the next level than it
    overlaps, because file boundaries do not coincide. Compactions within level 0 are left out.
    """

    def __init__(self, shape: TreeShape, data: TreeData) -> None:
        """Creates a tree that holds all keys in the highest level that may be so large."""
        super().__init__(shape, data)
        self._level0: list[float] = []
        # The bytes of each run and slice: computing them takes longer than all else.
        self._level0_sizes: list[float] = []
        self._flushed = cache(self._bytes)
        # Writes that each slice of a level holds, as if the whole key space had been written so.
        self._levels = [np.zeros(SLICES) for _ in range(shape.levels)]
        last = shape.levels - 1
        fitting = (level for level in range(1, last) if self._fixed_target_bytes(level) >= data.stored_bytes)
        self._levels[last if shape.dynamic_levels else next(fitting, last)][:] = math.inf
        self._sizes = list(map(self._slice_bytes, self._levels))
        self._level_sizes = [float(each.sum()) for each in self._sizes]

    @property
    def stalling_runs(self) -> int:
        """See `Tree`."""
        return len(self._level0)

    def flush(self, writes: float) -> None:
        """See `Tree`."""
        self._level0.append(writes)
        self._level0_sizes.append(self._flushed(writes))

    def next_merge(self) -> Merge | None:
        """See `Tree`."""
        first, targets = self._targets()
        level0_bytes = math.fsum(self._level0_sizes)
        scores = [
            (max(len(self._level0) / self._shape.trigger, level0_bytes / self._shape.level_base_bytes), 0)
        ]
        # The last level has none below it to go to.
        scores += [
            (self._level_sizes[level] / targets[level], level)
            for level in range(first, self._shape.levels - 1)
        ]
        score, level = max(scores)
        if score < 1:
            return None
        return self._level0_merge(first, level0_bytes) if level == 0 else self._file_merge(level)

    def _level0_merge(self, target: int, level0_bytes: float) -> Merge:
        """Returns the merge of all of level 0 into the first level below it."""
        files = len(self._level0)
        merged = self._levels[target] + math.fsum(self._level0)
        merged_bytes = self._slice_bytes(merged)

        def finish() -> None:
            del self._level0[:files], self._level0_sizes[:files]
            self._replace(target, 0, SLICES, merged, merged_bytes)

        read_bytes = level0_bytes + self._level_sizes[target]
        return Merge(read_bytes, float(merged_bytes.sum()), finish, target == self._last_filled())

    def _file_merge(self, level: int) -> Merge:
        """Returns the merge of one file of a level into the next level."""
        upper, lower = self._sizes[level], self._sizes[level + 1]
        width = min(SLICES, max(1, round(self._file_bytes(level) / (self._level_sizes[level] / SLICES))))
        starts = np.arange(0, SLICES - width + 1, width)
        moved, overlapped = (np.add.reduceat(each, starts) for each in (upper, lower))
        ratios = np.where(moved > 0, overlapped / np.maximum(moved, 1e-9), np.inf)
        chosen = int(np.argmin(ratios))
        begin = int(starts[chosen])
        end = int(starts[chosen + 1]) if chosen + 1 < len(starts) else SLICES
        merged = self._levels[level + 1][begin:end] + self._levels[level][begin:end]
        merged_bytes = self._slice_bytes(merged)
        more_bytes = min(
            self._file_bytes(level + 1), float(self._level_sizes[level + 1] - overlapped[chosen])
        )

        def finish() -> None:
            self._replace(level + 1, begin, end, merged, merged_bytes)
            self._replace(level, begin, end, 0.0, 0.0)

        if overlapped[chosen] + more_bytes == 0:
            return Merge(0.0, 0.0, finish)  # a trivial move
        read_bytes = float(moved[chosen] + overlapped[chosen]) + more_bytes
        written_bytes = float(merged_bytes.sum()) + more_bytes
        return Merge(read_bytes, written_bytes, finish, level + 1 == self._last_filled())

    def _replace(self, level: int, begin: int, end: int, writes: Numbers, sizes: Numbers) -> None:
        """Replaces the slices of a level from `begin` up to `end`.

        Args:
            level: the level.
            begin: index of the first slice.
            end: index after the last slice.
            writes: writes of each slice, a number or shape (end - begin,).
            sizes: bytes of each slice, of the same shape.
        """
        self._levels[level][begin:end] = writes
        self._sizes[level][begin:end] = sizes
        self._level_sizes[level] = float(self._sizes[level].sum())

    def _last_filled(self) -> int:
        """Returns the last level with data."""
        return max(level for level in range(1, self._shape.levels) if self._level_sizes[level] > 0)

    def _slice_bytes(self, writes: NDArray[np.float64]) -> Reals:
        """Returns the bytes of each slice."""
        return self._data.distinct(writes) * (self._data.file_entry_bytes / SLICES)

    def _file_bytes(self, level: int) -> float:
        """Returns the size of a level's files."""
        return self._shape.file_bytes * self._shape.file_ratio ** (level - 1)

    def _fixed_target_bytes(self, level: int) -> float:
        """Returns the target size of a level whose size does not depend on the data."""
        return self._shape.level_base_bytes * self._shape.level_ratio ** (level - 1)

    def _targets(self) -> tuple[int, list[float]]:
        """Returns the level that level 0 is merged into, and the target size of each level in bytes."""
        shape = self._shape
        if not shape.dynamic_levels:
            return 1, [0.0, *map(self._fixed_target_bytes, range(1, shape.levels))]
        # As RocksDB's CalculateBaseBytes: from the largest level upwards to the first that is not empty.
        filled = [level for level in range(1, shape.levels) if self._level_sizes[level] > 0]
        max_level_bytes = max(self._level_sizes)
        size = max_level_bytes / shape.level_ratio ** (shape.levels - 1 - filled[0])
        first = filled[0]
        while first > 1 and size > shape.level_base_bytes:
            first, size = first - 1, size / shape.level_ratio
        smallest = shape.level_base_bytes / shape.level_ratio
        size = min(max(size, smallest + 1), shape.level_base_bytes)
        targets = [0.0] * shape.levels
        for level in range(first, shape.levels):
            targets[level] = max(size * shape.level_ratio ** (level - first), shape.level_base_bytes)
        return first, targets
