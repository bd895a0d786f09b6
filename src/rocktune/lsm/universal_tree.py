"""A tree under universal compaction: a list of sorted runs, and RocksDB's rules for merging them."""

import math
from functools import cache

from rocktune.lsm.tree import Merge, Tree
from rocktune.lsm.tree_shape import TreeData, TreeShape


class UniversalTree(Tree):
    """Sorted runs, each of which holds the writes of an interval of time.

    The picks are those of RocksDB's `UniversalCompactionPicker`: for size amplification, for similar sizes,
    for the number of runs, in this order. Incremental compactions are left out, and
    those by age, which `rocktune.lsm.ages` prices.
    """

    def __init__(self, shape: TreeShape, data: TreeData) -> None:
        """Creates a tree with one run that holds all keys."""
        super().__init__(shape, data)
        # Oldest first, so that new runs do not move the others while a merge runs.
        self._runs = [math.inf]
        # The bytes of each run: computing them takes longer than all else.
        self._sizes = [self._bytes(math.inf)]
        self._flushed = cache(self._bytes)

    @property
    def stalling_runs(self) -> int:
        """See `Tree`."""
        return len(self._runs)

    def flush(self, writes: float) -> None:
        """See `Tree`."""
        self._runs.append(writes)
        self._sizes.append(self._flushed(writes))

    def next_merge(self) -> Merge | None:
        """See `Tree`."""
        if len(self._runs) < self._shape.trigger:
            return None
        sizes = self._sizes[::-1]
        picked = self._for_size_amplification(sizes) or self._for_sizes(sizes) or self._for_number(sizes)
        if picked is None:
            return None
        newest, width = picked
        end = len(self._runs) - newest
        begin = end - width
        merged = math.fsum(self._runs[begin:end])
        merged_bytes = self._bytes(merged)

        def finish() -> None:
            self._runs[begin:end] = [merged]
            self._sizes[begin:end] = [merged_bytes]

        return Merge(math.fsum(sizes[newest : newest + width]), merged_bytes, finish, begin == 0)

    def _for_size_amplification(self, sizes: list[float]) -> tuple[int, int] | None:
        """Returns all runs if the newer ones exceed their allowed share of the oldest.

        Args:
            sizes: bytes of each run, newest first.

        Returns:
            The index of the newest run to merge and the number of runs, or None.
        """
        newer = math.fsum(sizes[:-1])
        return (0, len(sizes)) if newer * 100 >= self._shape.max_size_amplification * sizes[-1] else None

    def _for_sizes(self, sizes: list[float]) -> tuple[int, int] | None:
        """Returns the newest runs of which none is much larger than those before it together.

        With `similar_sizes`, none is much larger or smaller than the one before it.
        """
        percent, similar = 100 + self._shape.size_ratio, self._shape.similar_sizes
        for first, size in enumerate(sizes):
            compared, end = size, first + 1
            while end < min(len(sizes), first + self._shape.max_merge_width):
                follower = sizes[end]
                if follower * 100 > compared * percent or (similar and compared * 100 > follower * percent):
                    break
                compared = follower if similar else compared + follower
                end += 1
            if end - first >= max(2, self._shape.min_merge_width):
                return first, end - first
        return None

    def _for_number(self, sizes: list[float]) -> tuple[int, int] | None:
        """Returns the newest runs whose merge brings the number of runs down to its maximum.

        They can be fewer than that takes, and are at least `min_merge_width`.
        """
        width = min(len(sizes) - self._max_runs(sizes) + 1, self._shape.max_merge_width)
        return (0, width) if width >= max(2, self._shape.min_merge_width) else None

    def _max_runs(self, sizes: list[float]) -> int:
        """Returns the number of runs above which runs are merged whatever their sizes.

        RocksDB's own choice is the number of runs, each as large as the size ratio allows after the ones
        before it, the first as large as a write buffer, of which the last is at least the largest run.
        """
        if self._shape.max_runs > 0:
            return self._shape.max_runs
        if self._shape.max_runs < 0 or self._shape.similar_sizes:
            return self._shape.trigger
        runs, run_bytes, total_bytes = 1, self._shape.buffer_bytes, 0.0
        while run_bytes < max(sizes):
            total_bytes += run_bytes
            run_bytes = total_bytes * (100 + self._shape.size_ratio) / 100
            runs += 1
        return runs
