"""Controllers by the names that users give: curve, cost, lerp, greedy:LOW,HIGH, static:K, static presets."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from rocktune.errors import UserError, unknown_name
from rocktune.lsm import STATIC_POLICIES
from rocktune.online.control.base import Controller
from rocktune.online.control.cost import CostBased
from rocktune.online.control.curve_controller import Curve
from rocktune.online.control.greedy import Greedy, Static
from rocktune.online.flsm.layout import Filters, Granularity

KINDS = ("curve", "cost", "lerp", "greedy", "static", *STATIC_POLICIES)


@dataclass(frozen=True)
class ChosenController:
    """A user's choice of a controller, with the policies that the store starts with.

    Attributes:
        kind: one of `KINDS`.
        policies: preset or K of each level, as `rocktune.FlsmStore` takes them.
        thresholds: low and high share of lookups, for "greedy"; else None.
    """

    kind: str
    policies: str | Sequence[int]
    thresholds: tuple[float, float] | None = None

    def made(
        self, filters: Filters, seed: int, *, granularity: Granularity = "levels", flush_bytes: int = 0
    ) -> Controller:
        """Returns a new controller of this kind.

        Args:
            filters: filter scheme of the store, by which policies are propagated.
            seed: seed of the controller.
            granularity: what a push of the store moves.
            flush_bytes: bytes of a flush, for "cost"; 0 for a T-th of level 1's capacity.

        Raises:
            UserError: the controller needs PyTorch, which is not installed, or the other granularity.
        """
        if self.kind == "curve":
            return Curve(filters)
        if self.kind == "cost":
            # With files, what arrives in a level depends on the policies above it, which no forecast follows.
            if granularity != "levels":
                raise UserError(f"controller 'cost' needs granularity levels, not {granularity}")
            return CostBased(flush_bytes=flush_bytes)
        if self.kind == "lerp":
            require_torch("controller 'lerp'")
            # Imported here, because PyTorch takes seconds to import.
            from rocktune.online.control.lerp import Lerp

            return Lerp(filters, seed=seed)
        return Greedy(*self.thresholds) if self.thresholds else Static()


def parse_controller(text: str, size_ratio: int) -> ChosenController:
    """Returns the choice that a user's text stands for.

    Args:
        text: one of `KINDS`. "static" takes a K ("static:5"). "greedy" takes two thresholds as shares of
            lookups ("greedy:0.33,0.67").
        size_ratio: T of the store.

    Raises:
        UserError: the controller is unknown, or its numbers are missing or out of range.
    """
    kind, _, numbers = text.partition(":")
    if kind not in KINDS:
        raise unknown_name("controller", kind, KINDS)
    if kind == "greedy":
        low, high = _numbers(text, numbers, 2, "two thresholds, for example greedy:0.33,0.67")
        # Made only to check the thresholds before anything is measured.
        Greedy(low, high)
        return ChosenController(kind, [1], (low, high))
    if kind == "static":
        (policy,) = _numbers(text, numbers, 1, "a policy, for example static:5")
        if policy != int(policy) or not 1 <= policy <= size_ratio:
            raise UserError(f"controller: '{text}' needs a K from 1 to the size ratio, {size_ratio}")
        # One K stands for all levels.
        return ChosenController(kind, [int(policy)])
    if numbers:
        raise UserError(f"controller: '{kind}' takes no numbers; write only '{kind}'")
    # RusKey starts from leveling, K = 1 (section 7).
    return ChosenController(kind, [1] if kind in ("curve", "cost", "lerp") else kind)


def require_torch(who: str) -> None:
    """Raises a UserError that says how to install PyTorch, unless it is installed."""
    if importlib.util.find_spec("torch") is None:
        raise UserError(f"{who} needs PyTorch; install it with: pip install 'rocktune[rl]'")


def _numbers(text: str, numbers: str, count: int, what: str) -> list[float]:
    """Returns the numbers of a choice.

    Raises:
        UserError: there are not `count` numbers; `what` describes the wanted ones.
    """
    try:
        values = [float(number) for number in numbers.split(",")]
    except ValueError:
        values = []
    if len(values) != count:
        raise UserError(f"controller: '{text}' needs {what}")
    return values
