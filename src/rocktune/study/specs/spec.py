"""What a study is, completely: what the ledger stores when it begins, and what resuming reads."""

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, field_validator, model_serializer

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedSpec, EngineSpec
from rocktune.space import OptionMaps
from rocktune.spec_file import Amount, Positive, Spec
from rocktune.study.specs.own_options import OwnTerms
from rocktune.workload import WorkloadSpec

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
Name = Annotated[str, Field(strict=True, pattern=NAME_PATTERN)]
"""A study's name, which is also a directory's."""

BASELINE_AGE_SHARES = (1 / 2, 2 / 3, 5 / 6, 1)
"""Ages at which the baseline is measured before the search, as shares of a full-length run (Dremel's 60, 80,
100 and 120 s), for young stores are faster than old ones and compare only with one of their age."""

Age = Annotated[float, Field(strict=True, gt=0)]
"""Seconds of load since a run began, at full size."""


class VerificationSettings(Spec):
    """How a study's winner is picked, pruned and proven. Ages are at full size.

    Attributes:
        finalists: how many of the search's best get fresh runs.
        front_points: where a Pareto front is sought, how many of its points are finalists.
        pick_runs: fresh runs of each finalist.
        ablation_pairs: runs with and without each option; 1 says nothing about spread, 0 leaves the
            ablation out, and with it the pruning.
        prune_pairs: runs of the winner and of its pruned form, in each attempt at pruning.
        prune_attempts: how often less is pruned where more made it worse; 0 keeps the search's winner whole.
        proof_pairs: runs of winner, baseline and RocksDB's defaults.
        ablation_age_s: at which a run of the ablation ends.
        age_s: at which every other run of the verification ends; Dremel's 120 s.
    """

    finalists: Positive = 4
    front_points: Positive = 8
    pick_runs: Positive = 2
    ablation_pairs: Annotated[int, Field(strict=True, ge=0, le=90)] = 3
    prune_pairs: Annotated[int, Field(strict=True, ge=3, le=20)] = 3
    prune_attempts: Annotated[int, Field(strict=True, ge=0, le=5)] = 2
    proof_pairs: Annotated[int, Field(strict=True, ge=6, le=500)] = 8
    ablation_age_s: Age = 60.0
    age_s: Age = 120.0

    @field_validator("ablation_pairs")
    @classmethod
    def _with_spread(cls, pairs: int) -> int:
        if pairs == 1:
            raise ValueError("1 says nothing about spread; give 0 or at least 2")
        return pairs


class ExperimentSpec(Spec):
    """What is measured under which conditions: what studies and sweeps share. JSON-able.

    Attributes:
        name: unique in its ledger.
        workload: at full size.
        device: what the store's I/O may use.
        engine: what measures.
        space: as `rocktune.space.space_document` writes it.
        memory_bytes: the memory budget at full size.
        scale: S.
        seed: decides the workload's random numbers and whatever is drawn.
        base_options: the user's own OPTIONS file, which is then the baseline; None for the space's default.
        own_terms: how `base_options` came to their memory; None without them, and in older ledgers.
    """

    name: Name
    workload: WorkloadSpec
    device: DeviceSpec
    engine: EngineSpec = EmbeddedSpec()
    space: dict[str, Any]
    memory_bytes: Positive
    scale: Annotated[int, Field(strict=True, ge=1, le=512)]
    seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 63)]
    base_options: OptionMaps | None = None
    own_terms: OwnTerms | None = None

    @model_serializer(mode="wrap")
    def _without_missing_terms(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leaves missing `own_terms` out, so that a study of an older ledger keeps its digest."""
        document: dict[str, Any] = handler(self)
        if self.own_terms is None:
            document.pop("own_terms", None)
        return document

    def age_s(self, full_size_s: float, scale: int | None = None) -> float:
        """Returns the age of a run that models `full_size_s` seconds at full size.

        Args:
            full_size_s: seconds.
            scale: S; the spec's own by default.
        """
        return full_size_s / self.engine.time_scale(scale or self.scale)


class StudySpec(ExperimentSpec):
    """Everything that decides what a study measures. JSON-able.

    Attributes:
        tuner: its name.
        tuner_settings: by the tuner's own names; what is not there has the tuner's default.
        objective: a measurement's field, "balance", or several fields, whose Pareto front is sought.
        constraints: what must hold, such as "read_latency_us_p99<=250".
        budget_s: seconds of measuring that the search may spend, at the study's scale.
        verification: how the winner is verified.
    """

    tuner: str
    tuner_settings: dict[str, Any] = Field(default={})
    objective: str | tuple[str, ...]
    constraints: tuple[str, ...] = ()
    budget_s: Age
    verification: VerificationSettings = VerificationSettings()


class SweepSpec(ExperimentSpec):
    """Everything that decides what a sweep measures. JSON-able.

    Attributes:
        kind: tells a sweep from a study.
        samples: how many configurations, drawn at random; None for every one of the space.
        part: (k, n): of these every n-th, beginning with the k-th; the n parts have all, each once.
        warm_up_s: seconds of load in each run before what is measured; 0 for none.
        measured_s: seconds that are measured.
        control_every: the space's default is measured again after every so many configurations.
    """

    kind: Literal["sweep"] = "sweep"
    samples: Positive | None = None
    part: tuple[Positive, Positive] = (1, 1)
    warm_up_s: Amount
    measured_s: Age
    control_every: Positive = 20
