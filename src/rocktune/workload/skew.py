"""The exponent of YCSB's Zipf law, fitted to what a store or a trace shows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rocktune.workload.distributions import KeyChooserSpec
from rocktune.workload.popularity import key_popularity

SKEWS = np.round(np.arange(0, 1.0, 0.01), 2)
"""The exponents that are tried."""


@dataclass(frozen=True)
class FittedSkew:
    """A fitted exponent of YCSB's Zipf law.

    Attributes:
        skew: the exponent, in [0, 1); 0 for uniform keys.
        min_skew: minimum of the exponents that fit about as well.
        max_skew: maximum of these exponents.
        error: maximum difference between a figure of the law and the measured one.
        figures: names of figures with the value by the law and the measured value; the first one is fitted,
            the other checks the fit.
    """

    skew: float
    min_skew: float
    max_skew: float
    error: float
    figures: tuple[tuple[str, float, float], ...]


def zipf_popularity(skew: float, keys: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Returns groups of keys and the probability of each key of a group, both of shape (groups,).

    Args:
        skew: exponent of YCSB's Zipf law, in [0, 1); 0 for uniform keys.
        keys: number of keys, at least 1.
    """
    chooser = KeyChooserSpec(kind="scrambled_zipfian", skew=skew) if skew else KeyChooserSpec()
    found = key_popularity(chooser, keys)
    return found.counts, found.probabilities
