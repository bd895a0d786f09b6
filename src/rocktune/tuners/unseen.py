"""Functions that find configurations that a search has not measured yet."""

import math
from collections.abc import Collection

import numpy as np

from rocktune.errors import UserError
from rocktune.space import Configuration, Space

# Enough while a search has measured few of a space's configurations; listing a grid takes far longer.
_DRAWS = 200


def configuration_count(space: Space) -> float:
    """Returns the number of valid configurations of a space; infinity if they are too many to list."""
    try:
        return len(space.grid())
    except UserError:
        return math.inf


def unseen(space: Space, known: Collection[Configuration], rng: np.random.Generator) -> Configuration:
    """Returns a valid configuration that is not among `known`.

    It is drawn at random, or is the first one of the grid if 200 draws are all known.

    Raises:
        StopIteration: all configurations are known; callers ensure that one is not (`configuration_count`).
    """
    for configuration in space.sample(_DRAWS, rng):
        if configuration not in known:
            return configuration
    return next(configuration for configuration in space.grid() if configuration not in known)
