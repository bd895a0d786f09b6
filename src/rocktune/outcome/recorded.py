"""The common part of all models in an outcome, and figures with their intervals."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

Protocol = Literal["steady", "short", "own"]
"""What a study's figures stand for: a store in steady state, the first 120 s, or what the user's program
measures."""


class Recorded(BaseModel):
    """A part of an outcome. Unknown fields are an error unless the class documents further fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def explicit_fields(self) -> dict[str, Any]:
        """Returns the fields that were set explicitly, by name; nested models are not converted."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Interval(Recorded):
    """A figure or ratio with its two-sided 95% confidence interval.

    Attributes:
        value: the estimate in the figure's unit; null if nothing was measured.
        low: lower end of the interval; null if it is not finite.
        high: upper end of the interval; null if it is not finite.
        repeats: number of values, or of pairs, behind the estimate.
    """

    value: float | None
    low: float | None
    high: float | None
    repeats: int


NOT_MEASURED = Interval(value=None, low=None, high=None, repeats=0)
