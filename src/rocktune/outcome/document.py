"""The outcome of a study as the ledger keeps it. Fields with a default may be missing in older documents."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from rocktune.cost import Prices
from rocktune.options_account import OptionsAccount
from rocktune.outcome.proof import Verification
from rocktune.outcome.recorded import Interval, Protocol, Recorded
from rocktune.outcome.scale import ScaleCheck
from rocktune.space import OptionMaps
from rocktune.space.configuration import Value
from rocktune.spec_file import validated

VERSION = 1
"""Version of the documents that are written now. Documents without a version are older; they are read too."""
REMOVED_FIELDS = frozenset({"twins"})
"""Fields of older documents that are ignored. `twins` counted trials that took an earlier trial's figures."""


class FrontPoint(Recorded):
    """A finalist with figures from fresh runs. Further fields are figures: geometric means over its runs.

    Attributes:
        configuration: values by knob.
        options: RocksDB's options as text, by section, at full size.
        alike: numbers, from 1, of the front's other points from which this one differs beyond noise in no
            objective; empty in older documents, and outside a front.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None] = Field(init=False)

    configuration: dict[str, Value]
    options: OptionMaps
    alike: tuple[int, ...] = ()

    @property
    def figures(self) -> Mapping[str, float | None]:
        """The figures by measurement field, the objective's fields first."""
        return self.__pydantic_extra__


class PassedOver(FrontPoint):
    """A finalist that was better in the closed loop than the chosen one, and had a worse tail.

    Attributes:
        p99_ratio: 99th percentile of its latency at the offered rate over the baseline's, the geometric mean
            of few pairs; null if a run failed.
        longest_wait_ratio: the same for the longest wait.
        p999_ratio: the same for the 99.9th percentile, with its interval; null in older documents.
    """

    p99_ratio: float | None
    longest_wait_ratio: float | None
    p999_ratio: Interval | None = None


class OptionEffect(Recorded):
    """The effect of one option that the search changed.

    Attributes:
        option: name of the option.
        before: `from` in JSON; the baseline's value, null if it sets none.
        after: `to` in JSON; the winner's value before pruning, null if it sets none.
        effect_ratio: how many times better the winner is than the winner with this option set back.
        matters: whether the whole interval lies above 1.
        verdict: "helps", "harms", "undecided" or "not measurable".
        together_with: other options that had to be set back together with it.
        kept: whether the exported configuration keeps the winner's value.
        effect: one sentence that says what the option does.
    """

    option: str
    before: Value | None = Field(alias="from")
    after: Value | None = Field(alias="to")
    effect_ratio: Interval
    matters: bool
    verdict: Literal["helps", "harms", "undecided", "not measurable"]
    together_with: tuple[str, ...]
    kept: bool
    effect: str


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
        offer: measuring at an offered rate in the proof.
        ageing: ageing stores for the proof.
        search: measuring in the search.
        pick: measuring finalists.
        tails: measuring finalists at an offered rate.
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
    tails: float = 0.0
    ablate: float = 0.0
    prune: float = 0.0
    prove: float = 0.0
    offer: float = 0.0
    ageing: float = 0.0
    measuring: float = 0.0
    opening: float
    loading: float
    repeated: float
    disturbed: float = 0.0
    other: float
    total: float


class Conditions(Recorded):
    """The conditions of a study.

    Attributes:
        study: name of the study.
        seed: seed of all its random numbers.
        objective: the measurement field to improve, "balance", or several fields with commas between them.
        constraints: the constraints as the user wrote them, such as "read_latency_us_p99<=250".
        default_constraints: the constraints that the study keeps by default; empty in other protocols than
            "steady", and in older documents.
        workload: name of the workload.
        device: name of the device.
        space: name of the space.
        tuner: name of the tuner, or its file.
        ledger: URL of the ledger without the password.
        engine: name and version of the system that was measured.
        file_system: type of the file system that held the stores, several with commas; "" if unknown, for an
            engine without stores, and in older documents.
        assertions: whether RocksDB was built with assertions, which make it slower than a release build.
        search_scale: "1/S", or "1" for full size.
        memory_bytes: the memory budget at full size; null without one.
        own_options_notes: sentences that say how the user's OPTIONS file was used.
        options_account: the account of each option of that file; null without one, and in older ledgers.
        protocol: "steady" if stores hold all keys, debt is charged, and the proof runs on aged stores;
            "short" for the first 120 s, as in older documents; "own" if the user's program decides.
        prices: the prices of the figure `cost`; null if it is no objective and no constraint.
    """

    study: str
    seed: int
    objective: str
    constraints: tuple[str, ...] = ()
    default_constraints: tuple[str, ...] = ()
    workload: str
    device: str
    space: str
    tuner: str
    ledger: str
    engine: str
    file_system: str = ""
    assertions: bool
    search_scale: str
    memory_bytes: int | None = None
    own_options_notes: tuple[str, ...] = ()
    options_account: OptionsAccount | None = None
    protocol: Protocol = "short"
    prices: Prices | None = None


class Outcome(Verification, Conditions):
    """The outcome of a study: its conditions, the proof at the largest scale, and the search's findings.

    Attributes:
        version: version of this layout; documents without one are older than versions.
        options_that_matter: the options that the search changed, the largest effect first.
        verifications: the proofs by scale.
        front: points of the Pareto front if one was sought, the best in the first field first.
        front_noise: by objective, the ratio of two points' figures up to which their difference may be chance
            (95%); empty without a front, without repeated runs, and in older documents.
        nearest_miss: the finalist that breaks the constraints least; null if a finalist keeps them.
        passed_over: finalists that were better than the chosen one but for their tails, best first; empty in
            other protocols than "steady", and in older documents.
        hypervolume: growth of the Pareto front during the search, if one was sought.
        models: the tuner's models, if it has any.
        tasks_left_out: metrics that the models were to learn from and could not, each with the reason; empty
            in older documents.
        seconds: the time that the study took.
        trials: number of trials by status.
        options_file: path of the OPTIONS file; null if there is nothing to export.
        report: path of the report.
        command: the command that repeats the study.
        scale_check: how well the search's model ranks configurations, without `foremost`; null if no check
            was known when the files were written, and in older documents.
        check_command: the command that checks it; null if a check is known, if the scale has no larger model,
            and in older documents.
        device_notes: sentences on disks that `rocktune device measure` measured on this machine and that are
            unlike the study's device; empty if one of them is like it.
    """

    version: int = VERSION
    options_that_matter: tuple[OptionEffect, ...]
    verifications: dict[str, Verification]
    front: tuple[FrontPoint, ...] = ()
    front_noise: dict[str, float] = Field(default={})
    nearest_miss: FrontPoint | None = None
    passed_over: tuple[PassedOver, ...] = ()
    hypervolume: Hypervolume | None = None
    models: tuple[LearnedModel, ...] = ()
    tasks_left_out: dict[str, str] = Field(default={})
    seconds: Seconds
    trials: dict[str, int]
    options_file: str | None = None
    report: str | None = None
    command: str | None = None
    scale_check: ScaleCheck | None = None
    check_command: str | None = None
    device_notes: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_older_versions(cls, document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        if (version := document.get("version", VERSION)) != VERSION:
            raise ValueError(f"version {version} is unknown; use the version of rocktune that wrote it")
        return {name: value for name, value in document.items() if name not in REMOVED_FIELDS}

    def with_proof(self, scale: str, proof: Verification) -> "Outcome":
        """Returns the outcome with a further proof; its own fields describe the one at the largest model.

        Args:
            scale: "1/S" of the proof, or "1" for full size.
            proof: the proof.
        """
        verifications = self.verifications | {scale: proof}
        # The smallest S is the largest model.
        largest = min(verifications, key=lambda each: int(each.rpartition("/")[2]))
        found = verifications[largest].explicit_fields() | {"verifications": verifications}
        return self.model_copy(update=found)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Outcome":
        """Returns the outcome in a document of this or an earlier version.

        Raises:
            UserError: the document is not an outcome, or has a later version.
        """
        return validated(cls, dict(document), f"outcome of study '{document.get('study', '')}'")

    def to_json(self) -> dict[str, Any]:
        """Returns the document; fields that an older one lacked stay absent, except the version."""
        return {"version": self.version} | self.model_dump(mode="json", by_alias=True, exclude_unset=True)
