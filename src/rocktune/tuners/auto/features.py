"""The features of configurations that the model learns from."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm import ROUGH, DistinctKeys, TreeData, TreeShape, steady_amplification
from rocktune.space import Configuration
from rocktune.tuners.base import Problem
from rocktune.tuners.unit_cube import UnitCube

Reals = NDArray[np.float64]

_INACTIVE = -1.0
"""The coordinate of an inactive knob: outside the unit cube."""
_COMPRESSED_SHARE = 0.5
"""Size of compressed entries over their own. A problem does not say it; db_bench's values compress so far."""
_CURVED = "block_size"
"""A knob that is best between its bounds: reading a block has a cost of its own and one for each byte."""


class Features:
    """The knobs of configurations, the curvature of one of them, and the bytes that compactions move.

    The figure of a write-heavy workload depends on a dozen knobs by one quantity, the bytes that flushes and
    compactions move for each byte written. A model of compactions computes it (docs/design/steady-state.md),
    so that the model need not learn it (docs/design/auto.md).
    """

    def __init__(self, problem: Problem) -> None:
        """Prepares the features of a problem's configurations."""
        self.cube = UnitCube(problem.space)
        self._problem = problem
        names = [knob.name for knob in problem.space.knobs]
        self._curved = names.index(_CURVED) if _CURVED in names else None

    def of_knobs(self, configurations: Sequence[Configuration]) -> Reals:
        """Returns the configurations' points, with inactive knobs apart, shape (configurations, knobs)."""
        active = np.array([self.cube.active(each) for each in configurations])
        return np.where(active, self.cube.points(configurations), _INACTIVE)

    def of_quick(self, configurations: Sequence[Configuration]) -> Reals:
        """Returns the points of `of_knobs` and, if the block size is a knob, its squared coordinate.

        The coordinate counts from the middle of the knob's range. Shape (configurations, knobs + 1).
        """
        knobs = self.of_knobs(configurations)
        if self._curved is None:
            return knobs
        return np.column_stack([knobs, (knobs[:, self._curved] - 0.5) ** 2])

    def of_all(self, configurations: Sequence[Configuration]) -> Reals:
        """Returns the features of `of_quick` and the logarithm of the moved bytes as the last column.

        A space of several column families has no such feature, because each family has a tree of its own.
        """
        quick = self.of_quick(configurations)
        if self._problem.space.families:
            return quick
        return np.column_stack([quick, np.log(self._moved_bytes(configurations))])

    def _moved_bytes(self, configurations: Sequence[Configuration]) -> list[float]:
        """Returns the bytes that flushes and compactions move for each byte written, in steady state."""
        columns = self._problem.space.columns(configurations)
        keys, entry_bytes = self._problem.expected_entries, self._problem.entry_bytes
        moved = []
        for row in range(len(configurations)):
            values = {name: column[row].item() for name, column in columns.items()}
            compressed = values["compression"] != "kNoCompression"
            file_entry_bytes = entry_bytes * (_COMPRESSED_SHARE if compressed else 1.0)
            moved.append(_moved_bytes(TreeShape.of_values(values), keys, entry_bytes, file_entry_bytes))
        return moved


@lru_cache(maxsize=1 << 14)
def _moved_bytes(shape: TreeShape, keys: float, entry_bytes: float, file_entry_bytes: float) -> float:
    """Returns the bytes moved for each byte written if all keys are equally popular."""
    uniform = DistinctKeys(np.array([keys]), np.array([1 / keys]))
    return steady_amplification(shape, TreeData(uniform, entry_bytes, file_entry_bytes), ROUGH).total
