"""Parts of an outcome (`rocktune.outcome`) that the proof does not need: seconds, models, hypervolume."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Recorded(BaseModel):
    """A part of an outcome. Unknown fields are an error unless the class documents further fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def explicit_fields(self) -> dict[str, Any]:
        """Returns the fields that were set explicitly, by name; nested models are not converted."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Hypervolume(Recorded):
    """The growth of the front during the search.

    Attributes:
        bounds: worst and best value of each objective field among the search's trials of full age.
        by_time: pairs of seconds of measuring and the dominated share of the box between the bounds.
    """

    bounds: dict[str, tuple[float, float]]
    by_time: tuple[tuple[float, float], ...]


class LearnedModel(Recorded):
    """A model that the tuner had learned by the end of the search.

    Attributes:
        length_scales: length scale of each knob, as a multiple of its range; shorter means more important.
        tasks: the figures that it models.
        correlations: correlation matrix of the tasks, row by row; may be empty for one task.
    """

    length_scales: dict[str, float]
    tasks: tuple[str, ...]
    correlations: tuple[tuple[float, ...], ...] = ()


class Seconds(Recorded):
    """The time that a study took, in seconds. Further fields, `verify 1/S`, are measuring at other scales.

    With several workers, all fields but `total` are sums over the workers.

    Attributes:
        baseline: measuring the baseline before the search.
        search: measuring in the search.
        pick: measuring finalists.
        ablate: measuring the winner with options set back.
        prune: measuring the winner without options that do not help.
        prove: measuring in the proof.
        measuring: the sum over all phases.
        opening: opening and closing runs.
        loading: loading data before a run.
        repeated: load that was run again because its run had been discarded.
        disturbed: measuring disturbed runs again; not part of `measuring`.
        other: the rest of `total`.
        total: wall time.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float] = Field(init=False)

    baseline: float = 0.0
    search: float = 0.0
    pick: float = 0.0
    ablate: float = 0.0
    prune: float = 0.0
    prove: float = 0.0
    measuring: float = 0.0
    opening: float
    loading: float
    repeated: float
    disturbed: float = 0.0
    other: float
    total: float
