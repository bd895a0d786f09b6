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


class Features:
    """The knobs of configurations, and the bytes that compactions move for them.

    The figure of a write-heavy workload depends on a dozen knobs by one quantity, the bytes that flushes and
    compactions move for each byte written. A model of compactions computes it (docs/design/steady-state.md),
    so that the model need not learn it (docs/design/auto.md).
    """

    def __init__(self, problem: Problem) -> None:
        """Prepares the features of a problem's configurations."""
        self.cube = UnitCube(problem.space)
        self._problem = problem

    def of_knobs(self, configurations: Sequence[Configuration]) -> Reals:
        """Returns the configurations' points, with inactive knobs apart, shape (configurations, knobs)."""
        active = np.array([self.cube.active(each) for each in configurations])
        return np.where(active, self.cube.points(configurations), _INACTIVE)

    def of_all(self, configurations: Sequence[Configuration]) -> Reals:
        """Returns the same with the logarithm of the moved bytes, shape (configurations, knobs + 1).

        A space of several column families has no such feature, because each family has a tree of its own.
        """
        knobs = self.of_knobs(configurations)
        if self._problem.space.families:
            return knobs
        return np.column_stack([knobs, np.log(self._moved_bytes(configurations))])

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
