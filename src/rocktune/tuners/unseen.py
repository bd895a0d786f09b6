"""Configurations that a search has not measured yet."""

import math
from collections.abc import Collection

import numpy as np

from rocktune.errors import UserError
from rocktune.space import Configuration, Space

_DRAWS = 200


def size_of(space: Space) -> float:
    """Returns how many configurations a space has; infinity for too many to list."""
    try:
        return len(space.grid())
    except UserError:
        return math.inf


def unseen(space: Space, known: Collection[Configuration], rng: np.random.Generator) -> Configuration:
    """Returns a configuration that is not among the known ones, at random where that is easy.

    REQUIRES: there is one.
    """
    for configuration in space.sample(_DRAWS, rng):
        if configuration not in known:
            return configuration
    return next(configuration for configuration in space.grid() if configuration not in known)
