"""The number of distinct keys among a number of random writes."""

import numpy as np
from numpy.typing import NDArray

from rocktune.lsm.arrays import Numbers, Reals, real

_POINTS = 600
_FAR = 300.0
"""Writes up to which the curve is tabulated, as a multiple of the keys; beyond it each key is written."""


class DistinctKeys:
    """The expected number of distinct keys among writes of keys that are drawn independently.

    A sorted run that holds the last w writes of each key range has as many entries. It is the sum over all
    keys of 1 - (1 - p)^w, approximated by 1 - exp(-p w), where p is the probability of the key.

    Attributes:
        keys: number of keys in the store.
    """

    def __init__(
        self, counts: NDArray[np.float64], probabilities: NDArray[np.float64], new_share: float = 0.0
    ) -> None:
        """Tabulates the curve.

        Args:
            counts: number of keys in each group of equally popular keys, shape (groups,).
            probabilities: probability of each key of a group, shape (groups,).
            new_share: share of the writes that insert a new key, from 0 to 1.
        """
        self.keys = float(counts.sum())
        first = 1 / max(float(probabilities.max()), 1 / self.keys)
        writes = np.geomspace(min(first / 16, 1 / 16), _FAR * self.keys, _POINTS)
        old = -np.expm1(-np.outer(writes * (1 - new_share), probabilities)) @ counts
        self._writes = np.concatenate([[0.0], writes])
        self._distinct = np.concatenate([[0.0], np.minimum(old + writes * new_share, self.keys)])

    def __call__(self, writes: Numbers) -> Reals:
        """Returns the expected distinct keys among `writes` writes.

        Args:
            writes: number of writes, at least 0; infinity gives all keys. Any shape.
        """
        distinct: Reals = np.interp(real(writes), self._writes, self._distinct, right=self.keys)
        return distinct
