"""Complete specifications of all that has a name in a ledger, which stores them; resuming reads them."""

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, field_validator, model_validator

from rocktune.cost import Prices
from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedSpec, EngineSpec, VersionsSpec
from rocktune.outcome import LARGER_FACTOR, Protocol
from rocktune.space import OptionMaps
from rocktune.spec_file import Amount, Positive, SparseSpec, Spec, validated
from rocktune.study.specs.own_options import OwnTerms
from rocktune.study.specs.tried import Tried
from rocktune.workload import WorkloadSpec, neighbours

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
Name = Annotated[str, Field(strict=True, pattern=NAME_PATTERN)]
"""A study's name; it also names a directory, which restricts the characters."""

BASELINE_AGE_SHARES = (1 / 2, 2 / 3, 5 / 6, 1)
"""Ages at which the baseline is measured before the search, as shares of a full-length run. They stand for
Dremel's 60, 80, 100 and 120 s. Young stores are faster, so compare only at equal age."""

Age = Annotated[float, Field(strict=True, gt=0)]
"""Seconds of load since a run began, at full size."""


MAX_PAIRS = 500
"""Maximum number of pairs of a proof."""
DEFAULTS_PAIRS = 2
"""Number of pairs of a proof with which RocksDB's bare defaults run, too. They show an order of magnitude;
the recommendation does not depend on them."""
MIN_PAIRS = 4
"""Minimum number of pairs at the first look of a proof. Three pairs have a critical value above 20."""
ProofPairs = Annotated[int, Field(strict=True, ge=6, le=MAX_PAIRS)]
"""A number of pairs of a proof. Fewer give intervals that contain 1 unless the difference is huge."""


DISTURBED_SHARE = 0.1
"""A run is disturbed if other programs used more than this share of the processors, unless the study allows
more."""


class VerificationSettings(Spec):
    """Settings of a study's verification: pick, ablation, pruning and proof. Ages are at full size.

    Attributes:
        finalists: number of the search's best configurations that get fresh runs.
        front_points: number of finalists if a Pareto front is sought.
        pick_runs: fresh runs of each finalist.
        pick_rounds: maximum number of rounds of finalists. A round follows if no finalist keeps the
            constraints beyond the noise of its runs, or if others promised more in the search than the winner
            gave in fresh runs.
        ablation_pairs: pairs of runs with and without each option. 1 is refused, because it gives no
            interval; 0 leaves out the ablation and with it the pruning.
        prune_pairs: pairs of runs of the winner and its pruned form in each attempt at pruning.
        prune_attempts: maximum number of attempts; each drops half of the options of the one before. 0 keeps
            the winner as the search found it.
        pairs: number of pairs of winner and baseline in the proof; None for a proof that stops when it is
            decided. Files and ledgers of older releases call it `proof_pairs`.
        max_pairs: maximum number of pairs of a proof without `pairs`.
        indifference: difference that does not matter, as a share. A proof without `pairs` stops when its
            interval shows that the ratio to the baseline lies within it.
        window_s: seconds of load that a run on an aged store measures; only in the steady protocol.
        offered_s: seconds of load of a window at the offered rate, which has to span a cycle of compactions.
        offered_windows: number of windows of a run at the offered rate after which the proof judges the tail,
            and again after as many more; one before them lets the store settle at the rate.
        max_offered_windows: number of these windows after which it stays undecided, at least as many.
        chosen_windows: number of windows of a run at the offered rate when finalists are compared.
        offered_share: offered rate as a share of what the baseline sustains, unless the study has a rate.
        max_p99_ratio: maximum of the upper end of the p99 latency's ratio at the offered rate, winner over
            baseline, for a recommendation.
        max_longest_wait_ratio: the same for the longest wait.
        max_p999_ratio: maximum of the lower end of the p99.9 latency's ratio. Few operations decide p99.9, so
            that its interval is wide; a winner is refused only where it is shown to be worse.
        max_others_share: share of the processors that other programs may use during a run, of the search too;
            beyond it the run is disturbed and is measured again.
        ablation_age_s: age in seconds at which a run of the ablation ends.
        age_s: age in seconds at which all other runs of the verification end; 120 s in Dremel's paper.
    """

    finalists: Positive = 4
    front_points: Positive = 8
    pick_runs: Positive = 2
    pick_rounds: Positive = 3
    ablation_pairs: Annotated[int, Field(strict=True, ge=0, le=90)] = 3
    prune_pairs: Annotated[int, Field(strict=True, ge=3, le=20)] = 3
    prune_attempts: Annotated[int, Field(strict=True, ge=0, le=5)] = 2
    pairs: ProofPairs | None = None
    max_pairs: ProofPairs = 12
    indifference: Annotated[float, Field(strict=True, ge=0, le=1)] = 0.02
    window_s: Age = 480.0
    offered_s: Age = 1440.0
    offered_windows: Positive = 2
    max_offered_windows: Positive = 6
    chosen_windows: Positive = 2
    offered_share: Annotated[float, Field(strict=True, gt=0, le=1)] = 0.8
    max_p99_ratio: Annotated[float, Field(strict=True, ge=1)] = 1.25
    max_longest_wait_ratio: Annotated[float, Field(strict=True, ge=1)] = 1.5
    max_p999_ratio: Annotated[float, Field(strict=True, ge=1)] = 1.25
    max_others_share: Annotated[float, Field(strict=True, gt=0, lt=1)] = DISTURBED_SHARE
    ablation_age_s: Age = 60.0
    age_s: Age = 120.0

    @property
    def limit_pairs(self) -> int:
        """Maximum number of pairs that the proof can run."""
        return self.max_pairs if self.pairs is None else self.pairs

    @property
    def pair_looks(self) -> tuple[int, ...]:
        """Increasing numbers of pairs after which the proof may stop; only the last one if it is fixed.

        Looks are at a third, half, two thirds and all of the maximum, but not below `MIN_PAIRS`. All but the
        last are rounded down to even numbers, so that either side runs first equally often.
        """
        if self.pairs is not None:
            return (self.pairs,)
        looks = {max(MIN_PAIRS, 2 * (self.max_pairs // parts)) for parts in (6, 4, 3)}
        return (*sorted(looks), self.max_pairs)

    @property
    def offered_looks(self) -> tuple[int, ...]:
        """Increasing numbers of windows of a run after which the tail is judged."""
        step, last = self.offered_windows, self.max_offered_windows
        return (*range(step, last, step), last)

    def with_pairs(self, pairs: int | None) -> Self:
        """Returns the settings with another number of pairs; unchanged for None.

        Raises:
            UserError: the number is out of range.
        """
        if pairs is None:
            return self
        return validated(type(self), self.model_dump() | {"pairs": pairs}, "verification")

    @model_validator(mode="before")
    @classmethod
    def _read_older_name(cls, document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        if {"pairs", "proof_pairs"} <= document.keys():
            raise ValueError("proof_pairs: this is the older name of 'pairs'; give 'pairs' alone")
        return current_names(document)

    @field_validator("ablation_pairs")
    @classmethod
    def _with_spread(cls, pairs: int) -> int:
        if pairs == 1:
            raise ValueError("1 pair gives no interval; give 0 or at least 2")
        return pairs

    @model_validator(mode="after")
    def _with_looks(self) -> Self:
        if self.max_offered_windows < self.offered_windows:
            raise ValueError(
                f"max_offered_windows: {self.max_offered_windows} is less than offered_windows, "
                f"{self.offered_windows}"
            )
        return self


def current_names(verification: dict[str, Any]) -> dict[str, Any]:
    """Returns a document of `VerificationSettings` with the present names of its fields."""
    return {"pairs" if name == "proof_pairs" else name: value for name, value in verification.items()}


class ExperimentSpec(SparseSpec):
    """The conditions that studies and sweeps share. It converts to JSON.

    Attributes:
        name: name of the study, unique in its ledger.
        workload: the workload at full size.
        device: limits of the store's I/O; never scaled.
        engine: the system under test.
        space: the space, as `rocktune.space.space_document` writes it.
        memory_bytes: the memory budget at full size.
        scale: S of the 1/S model.
        seed: decides the workload's random numbers and all draws of tuner and sweep.
        base_options: the user's own options, which are then the baseline; None for the space's default.
        column_family: the column family that is tuned, if the workload or the OPTIONS file has several; None
            if all of the workload's are tuned together, and for the default one.
        own_terms: origin of the memory of `base_options`; None without them, and in older ledgers.
    """

    sparse_fields: ClassVar[frozenset[str]] = frozenset({"own_terms", "column_family"})

    name: Name
    workload: WorkloadSpec
    device: DeviceSpec
    engine: EngineSpec = EmbeddedSpec()
    space: dict[str, Any]
    memory_bytes: Positive
    scale: Annotated[int, Field(strict=True, ge=1, le=512)]
    seed: Annotated[int, Field(strict=True, ge=0, lt=1 << 63)]
    base_options: OptionMaps | None = None
    column_family: str | None = None
    own_terms: OwnTerms | None = None

    def age_s(self, full_size_s: float, scale: int | None = None) -> float:
        """Returns the age in seconds of a scaled run that stands for `full_size_s` at full size.

        Args:
            full_size_s: age at full size, seconds.
            scale: S; the spec's own by default.
        """
        return full_size_s / self.engine.time_scale(scale or self.scale)


class StudySpec(ExperimentSpec):
    """A study: everything that decides what it measures. It converts to JSON.

    Attributes:
        tuner: name of the tuner, or path of its Python or TOML file.
        tuner_settings: settings by the tuner's own names; missing ones have the tuner's defaults.
        objective: a figure, "balance", or several figures, whose Pareto front is sought.
        constraints: bounds on figures, such as "read_latency_us_p99<=250" or, as a multiple of the baseline's
            figure, "read_latency_us_p99<=1.25x".
        default_constraints: bounds that the study keeps beside these; empty in older documents.
        budget_s: maximum seconds of measuring in the search, at the study's scale.
        verification: settings of the verification.
        protocol: "steady" or "short"; see `rocktune.outcome.Conditions`. Older documents are short.
        rate_ops_s: the offered rate of the proof's second phase, operations per second over all threads; None
            for a share of what the baseline sustains.
        prices: prices of the figure `cost`; None if it is no objective and no constraint.
        robust: share within which mix and skew of the workload may change; None for the workload alone. Each
            trial is then measured on the workload and on the corners of `neighbours`, and the worst counts.
        tried: configurations of the user's, which are measured before the tuner begins, at the budget's cost.
    """

    sparse_fields: ClassVar[frozenset[str]] = ExperimentSpec.sparse_fields | {
        "rate_ops_s",
        "default_constraints",
        "prices",
        "robust",
        "tried",
    }

    tuner: str
    tuner_settings: dict[str, Any] = Field(default={})
    objective: str | tuple[str, ...]
    constraints: tuple[str, ...] = ()
    default_constraints: tuple[str, ...] = ()
    budget_s: Age
    verification: VerificationSettings = VerificationSettings()
    protocol: Protocol = "short"
    rate_ops_s: Annotated[float, Field(strict=True, gt=0)] | None = None
    prices: Prices | None = None
    robust: Annotated[float, Field(strict=True, gt=0, lt=1)] | None = None
    tried: tuple[Tried, ...] = ()

    @property
    def neighbours(self) -> tuple[WorkloadSpec, ...]:
        """The further workloads on which each trial is measured; empty unless the study is robust."""
        return () if self.robust is None else neighbours(self.workload, self.robust)

    @property
    def proof_s(self) -> float:
        """Seconds at full size that each run of the proof measures."""
        return self.verification.window_s if self.protocol == "steady" else self.verification.age_s


class SweepSpec(ExperimentSpec):
    """A sweep: everything that decides what it measures. It converts to JSON.

    Attributes:
        kind: distinguishes a sweep from a study.
        samples: number of configurations to draw at random; None for all of the space.
        hand: whether it also measures what people set by hand (tuner `hand`).
        part: (k, n): measure only every n-th configuration, beginning with the k-th from 1. The n parts
            together contain each configuration once.
        warm_up_s: seconds of load in each run before the measured window; 0 for none.
        measured_s: seconds of the measured window.
        control_every: number of configurations after which the space's default is measured again.
    """

    kind: Literal["sweep"] = "sweep"
    samples: Positive | None = None
    hand: bool = False
    part: tuple[Positive, Positive] = (1, 1)
    warm_up_s: Amount
    measured_s: Age
    control_every: Positive = 20


MIN_CHECKED = 20
"""Minimum number of configurations of a scale check; fewer leave its correlation undecided."""
MAX_CHECKED = 1000


class ScaleCheckSpec(ExperimentSpec):
    """A check of a scale: everything that decides what it measures. It converts to JSON.

    Attributes:
        kind: distinguishes a check from a study.
        scale: S of the checked model, a multiple of `LARGER_FACTOR`.
        configurations: number of configurations, with the space's default.
        objective: the figure by which both models rank them.
        protocol: see `StudySpec`.
        run_s: seconds of load of each run at full size.
    """

    kind: Literal["scale_check"] = "scale_check"
    scale: Annotated[int, Field(strict=True, ge=LARGER_FACTOR, le=512, multiple_of=LARGER_FACTOR)]
    configurations: Annotated[int, Field(strict=True, ge=MIN_CHECKED, le=MAX_CHECKED)]
    objective: str
    protocol: Protocol
    run_s: Age

    @property
    def larger_scale(self) -> int:
        """S of the model that the checked one is compared with."""
        return self.scale // LARGER_FACTOR


class UpgradeSpec(ExperimentSpec):
    """The proof of an upgrade: one OPTIONS file with two versions of RocksDB. It converts to JSON.

    `base_options` is the file as the older version reads it.

    Attributes:
        kind: distinguishes an upgrade from a study.
        engine: the older and the newer version, in this order.
        from_version: the version that the older one stands for.
        to_version: the version that the newer one stands for.
        new_options: the file as the newer version reads it, with the block cache of `base_options`.
        pairs: number of runs of each version. 1 is refused, because it gives no interval.
        measured_s: seconds that each run measures, at the scale of the model.
    """

    kind: Literal["upgrade"] = "upgrade"
    engine: VersionsSpec
    from_version: str
    to_version: str
    new_options: OptionMaps
    pairs: Annotated[int, Field(strict=True, ge=2, le=MAX_PAIRS)]
    measured_s: Age
