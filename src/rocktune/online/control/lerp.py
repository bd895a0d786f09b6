"""Lerp, RusKey's tuning model: level-based reinforcement learning with policy propagation (section 5)."""

from dataclasses import dataclass, field

from rocktune.online.control.actor import ActorSettings, LevelActor
from rocktune.online.control.levelwise import Levelwise, learned_levels
from rocktune.online.flsm.layout import Filters


@dataclass(frozen=True)
class LerpSettings:
    """The hyper-parameters of Lerp.

    Attributes:
        learned_levels: number of levels that learn, one after the other. By default as many as propagation
            needs (section 5.2): 1 with uniform filters, 2 with Monkey's.
        actor: hyper-parameters of each level's actor.
    """

    learned_levels: int | None = None
    actor: ActorSettings = field(default_factory=ActorSettings)


class Lerp(Levelwise):
    """A controller whose DDPG actors alone choose the policies of the first levels; needs PyTorch."""

    def __init__(self, filters: Filters, settings: LerpSettings | None = None, seed: int = 1) -> None:
        """Creates a controller that has learned nothing.

        Args:
            filters: filter scheme of the store, which decides how policies propagate (section 5.2).
            settings: hyper-parameters.
            seed: seed of networks and exploration.
        """
        settings = settings or LerpSettings()
        count = settings.learned_levels or learned_levels(filters)
        levels = range(1, count + 1)
        super().__init__("lerp", [LevelActor(level, settings.actor, seed + level) for level in levels])
