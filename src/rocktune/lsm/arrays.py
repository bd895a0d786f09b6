"""Types of the formulas' arguments and results: a number, or an array with one number per configuration."""

import numpy as np
from numpy.typing import NDArray

Numbers = float | NDArray[np.float64] | NDArray[np.int64]
Reals = NDArray[np.float64]


def real(numbers: Numbers) -> Reals:
    """Returns `numbers` as an array of doubles of the same shape."""
    # Integer options overflow int64 when sizes are multiplied, and ** of negative integers is refused.
    return np.asarray(numbers, dtype=np.float64)
