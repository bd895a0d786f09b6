"""Controllers by what a user calls them: lerp, greedy:LOW,HIGH, static:K, lazy-leveling."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.errors import UserError, unknown_name
from rocktune.lsm import STATIC_POLICIES
from rocktune.online.control.base import Controller
from rocktune.online.control.greedy import Greedy, Static
from rocktune.online.flsm.layout import Filters

KINDS = ("lerp", "greedy", "static", *STATIC_POLICIES)


@dataclass(frozen=True)
class ChosenController:
    """A controller that was asked for, and the policies that the store begins with under it.

    Attributes:
        kind: one of `KINDS`.
        policies: as `rocktune.FlsmStore` takes them.
        thresholds: of "greedy", low and high.
    """

    kind: str
    policies: str | Sequence[int]
    thresholds: tuple[float, float] | None = None

    def made(self, filters: Filters, seed: int) -> Controller:
        """Returns the controller.

        Args:
            filters: of the store.
            seed: of what is random in it.

        Raises:
            UserError: it needs PyTorch, which is not there.
        """
        if self.kind == "lerp":
            require_torch("controller 'lerp'")
            # Here, because PyTorch takes seconds to import.
            from rocktune.online.control.lerp import Lerp

            return Lerp(filters, seed=seed)
        return Greedy(*self.thresholds) if self.thresholds else Static()


def parse_controller(text: str, size_ratio: int) -> ChosenController:
    """Returns what a user's words for a controller mean.

    Args:
        text: one of `KINDS`, "static" with its K ("static:5"), "greedy" with its thresholds
            ("greedy:0.33,0.67": shares of lookups).
        size_ratio: T of the store.

    Raises:
        UserError: there is no such controller, or its numbers make no sense.
    """
    kind, _, numbers = text.partition(":")
    if kind not in KINDS:
        raise unknown_name("controller", kind, KINDS)
    if kind == "greedy":
        low, high = _numbers(text, numbers, 2, "two thresholds, for example greedy:0.33,0.67")
        Greedy(low, high)
        return ChosenController(kind, [1], (low, high))
    if kind == "static":
        (policy,) = _numbers(text, numbers, 1, "a policy, for example static:5")
        if policy != int(policy) or not 1 <= policy <= size_ratio:
            raise UserError(f"controller: '{text}' has no policy from 1 to {size_ratio}")
        return ChosenController(kind, [int(policy)])
    if numbers:
        raise UserError(f"controller: '{kind}' takes no numbers")
    return ChosenController(kind, [1] if kind == "lerp" else kind)


def require_torch(who: str) -> None:
    """Raises UserError, which says how to install it, where there is no PyTorch."""
    if importlib.util.find_spec("torch") is None:
        raise UserError(f"{who} needs PyTorch; pip install 'rocktune[rl]'")


def _numbers(text: str, numbers: str, count: int, what: str) -> list[float]:
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        raise UserError(f"controller: '{text}' wants {what}")
    return values
