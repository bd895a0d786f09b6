"""Weighted sums of figures as one objective (Jia and Chen, ICDCS 2020, equation 5)."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from rocktune.errors import UserError
from rocktune.units import format_decimal

_TERM = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*\*\s*(\w+)\s*")
FORM = "WEIGHT*FIGURE + WEIGHT*FIGURE, such as 0.7*throughput_ops_s + 0.3*read_latency_us_p99"


def is_weighted(name: str) -> bool:
    """Returns whether the name of an objective is meant as a weighted sum of figures."""
    return "*" in name or "+" in name


@dataclass(frozen=True)
class WeightedSum:
    """A weighted sum of the logarithms of figures.

    Equation 5 minimises the sum of w_i * F_i and asks for figures made comparable. F_i is here the logarithm
    of the ratio of figure i to the baseline's, negated where larger is better. The baseline only adds a
    constant to that sum, so it need not be known: it changes no rank, and cancels in each ratio of two
    configurations. That ratio is the weighted geometric mean of their ratios in each figure.

    Attributes:
        weights: weight by figure, above 0, at least two, as the user wrote them.
    """

    weights: Mapping[str, float]

    def __str__(self) -> str:
        """Returns the text that `parse_weighted` reads as an equal sum."""
        # The sign of an exponent would be taken for the sum's.
        return " + ".join(f"{format_decimal(weight)}*{field}" for field, weight in self.weights.items())

    def score(self, figures: Mapping[str, float], directions: Mapping[str, int]) -> float:
        """Returns the exponential of the negated sum, with weights that add up to 1; larger is better.

        Args:
            figures: value by figure.
            directions: by figure, +1 if larger is better, -1 if smaller is.

        Returns:
            The score, above 0; NaN if a figure is not above 0.
        """
        if not all(figures[field] > 0 for field in self.weights):
            return math.nan
        total = math.fsum(self.weights.values())
        terms = (
            weight / total * directions[field] * math.log(figures[field])
            for field, weight in self.weights.items()
        )
        return math.exp(math.fsum(terms))


def parse_weighted(text: str) -> WeightedSum:
    """Returns the weighted sum that a text such as `0.7*throughput_ops_s + 0.3*read_latency_us_p99` states.

    Raises:
        UserError: the text is malformed, a weight is 0 or infinite, a figure is named twice, or there is only
            one.
    """
    weights: dict[str, float] = {}
    for part in text.split("+"):
        match = _TERM.fullmatch(part)
        if match is None:
            raise UserError(f"objective: '{text}' is not of the form {FORM}")
        weight, field = float(match[1]), match[2]
        if weight == 0:
            raise UserError(f"objective: {field} has the weight 0; leave it out, or give a weight above 0")
        if math.isinf(weight):
            raise UserError(
                f"objective: the weight of {field} is too large; weights are relative to each other"
            )
        if field in weights:
            raise UserError(f"objective: {field} has two weights; name each figure once")
        weights[field] = weight
    if len(weights) == 1:
        raise UserError(
            f"objective: '{text}' weighs one figure alone; name it without a weight, or add another"
        )
    return WeightedSum(weights)
