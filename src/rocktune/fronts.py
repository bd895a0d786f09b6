"""Pareto fronts by constrained domination."""

import numpy as np
from numpy.typing import NDArray


def fronts_of(gains: NDArray[np.float64], violations: NDArray[np.float64]) -> NDArray[np.intp]:
    """Returns each row's front number, 0 for the first front, by constrained domination (Deb's rules).

    Args:
        gains: a row for each result, a column for each objective; larger is better.
        violations: violation of the constraints by each result. A row with a smaller violation dominates,
            whatever the gains.
    """
    count = len(gains)
    # Element [i, j] compares row i with row j; all pairs at once cost count^2 memory, which is small here.
    no_worse = (gains[:, None, :] >= gains[None, :, :]).all(axis=2)
    better = (gains[:, None, :] > gains[None, :, :]).any(axis=2)
    milder = violations[:, None] < violations[None, :]
    dominates = milder | ((violations[:, None] == violations[None, :]) & no_worse & better)
    fronts = np.full(count, -1, dtype=np.intp)
    number = 0
    while (fronts < 0).any():
        # The next front: rows that no row outside the fronts found so far dominates.
        left = fronts < 0
        dominated = dominates[left].any(axis=0)
        fronts[left & ~dominated] = number
        number += 1
    return fronts
