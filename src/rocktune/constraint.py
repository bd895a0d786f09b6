"""Constraints: bounds that figures must keep, as numbers or as multiples of the baseline's figure."""

import math
import re
from dataclasses import dataclass, replace

from rocktune.cost import COST
from rocktune.errors import UserError, unknown_name
from rocktune.measurement import FIGURES

YIELDED_FACTOR = 1.05
"""Bound of a default as a multiple of the baseline's figure, where the baseline itself breaks the default.
Without a margin, chance would decide about a winner that equals the baseline in this figure."""
NAMES = (*FIGURES, COST)
"""Names that objectives and constraints may use."""
NO_DEFAULTS = "none"
"""The text that leaves out the default constraints."""

_FORM = re.compile(r"\s*(\w+)\s*(<=|>=)\s*(\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)(x?)\s*")


@dataclass(frozen=True)
class Constraint:
    """A bound on a measurement field, such as a service level objective.

    Attributes:
        field: name of the measurement field.
        at_most: whether `bound` is an upper bound; otherwise it is a lower one.
        bound: the bound in the field's unit, or a multiple of the baseline's figure; above 0 as stated. NaN,
            which nothing keeps, for a multiple of a figure that the baseline does not have.
        is_relative: whether `bound` is a multiple of the baseline's figure.
        is_default: whether rocktune set the bound. A default yields to a baseline that breaks it.
    """

    field: str
    at_most: bool
    bound: float
    is_relative: bool = False
    is_default: bool = False

    def against(self, figure: float) -> "Constraint":
        """Returns the constraint with a bound in the field's unit.

        Args:
            figure: the baseline's figure; NaN if it has none.
        """
        if self.is_relative:
            return replace(self, bound=self.bound * figure, is_relative=False)
        # Otherwise a user whose own store breaks a default would get no answer at all.
        if self.is_default and 0 < self.violation(figure) < math.inf:
            factor = YIELDED_FACTOR if self.at_most else 1 / YIELDED_FACTOR
            return replace(self, bound=factor * figure)
        return self

    def tightened(self, ratio: float) -> "Constraint":
        """Returns the constraint with a bound that is stricter by a ratio of at least 1."""
        return replace(self, bound=self.bound / ratio if self.at_most else self.bound * ratio)

    def violation(self, value: float) -> float:
        """Returns the excess beyond the bound as a share of the bound.

        0 if the value keeps the bound, infinity if it is NaN. The bound must not be relative any more.
        """
        assert not self.is_relative, f"{self} needs the baseline's figure; see against()"
        if math.isnan(value) or math.isnan(self.bound):
            return math.inf
        excess = value - self.bound if self.at_most else self.bound - value
        if excess <= 0:
            return 0.0
        # A multiple of 0 is 0.
        return excess / self.bound if self.bound else math.inf

    def __str__(self) -> str:
        sign, unit = "<=" if self.at_most else ">=", "x" if self.is_relative else ""
        return f"{self.field}{sign}{self.bound:.15g}{unit}"


def parse_constraint(text: str, is_default: bool = False) -> Constraint:
    """Returns the constraint that a text such as `read_latency_us_p99<=250` states.

    `read_latency_us_p99<=1.25x` bounds the figure by 1.25 times the baseline's.

    Args:
        text: the text.
        is_default: see `Constraint`.

    Raises:
        UserError: the text is malformed, its field is unknown, or its bound is 0 or infinite.
    """
    match = _FORM.fullmatch(text)
    if match is None:
        raise UserError(
            f"constraint: '{text}' is not of the form FIELD<=NUMBER or FIELD>=NUMBER, such as "
            "read_latency_us_p99<=250, or read_latency_us_p99<=1.25x for 1.25 times the baseline's figure"
        )
    field, sign, number, unit = match.groups()
    if field not in NAMES:
        raise unknown_name("constraint:", field, NAMES)
    # Violations are shares of the bound, which have no meaning for a bound of 0.
    if float(number) == 0:
        raise UserError(f"constraint: '{text}' has the bound 0; bounds are above 0")
    if math.isinf(float(number)):
        raise UserError(f"constraint: '{text}' has a bound that no number holds; give a smaller one")
    return Constraint(field, sign == "<=", float(number), bool(unit), is_default)
