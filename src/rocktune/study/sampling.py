"""Draws the configurations that sweeps and scale checks measure."""

import numpy as np

from rocktune.errors import UserError
from rocktune.space import Configuration, Space

# Small spaces yield repeats, so sampling is repeated until there are enough distinct configurations.
_DRAWS = 20


def sampled(
    space: Space, count: int, rng: np.random.Generator, setting: str, mend: str
) -> list[Configuration]:
    """Returns distinct configurations, drawn at random.

    Args:
        space: the space.
        count: number of configurations.
        rng: draws them.
        setting: name of the setting that asks for so many, for the message.
        mend: what to do if the space has fewer, for the message.

    Raises:
        UserError: the space has fewer.
    """
    distinct: dict[Configuration, None] = {}
    for _ in range(_DRAWS):
        distinct |= dict.fromkeys(space.sample(count, rng))
        if len(distinct) >= count:
            return list(distinct)[:count]
    raise UserError(
        f"{setting}: {count} is more than the {len(distinct)} configurations that were found in space "
        f"'{space.name}'; {mend}"
    )
