"""The outcome of a study as the ledger keeps it. Fields with a default may be missing in older documents."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import ConfigDict, Field, model_validator

from rocktune.options_account import OptionsAccount
from rocktune.outcome_parts import Hypervolume, LearnedModel, Recorded, Seconds
from rocktune.space import OptionMaps
from rocktune.space.configuration import Value
from rocktune.spec_file import validated

VERSION = 1
"""Version of the documents that are written now. Documents without a version are older; they are read too."""
REMOVED_FIELDS = frozenset({"twins"})
"""Fields of older documents that are ignored. `twins` counted trials that took an earlier trial's figures."""


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


class CacheShare(Recorded):
    """The block cache of a configuration, at full size.

    Attributes:
        kind: "lru" or "hyper_clock".
        capacity_bytes: capacity in bytes.
        settings: explicit settings by name, as text; RocksDB chooses the others.
    """

    kind: str
    capacity_bytes: int
    settings: dict[str, str]


class Memory(Recorded):
    """The memory that a configuration may use, in bytes at full size.

    Attributes:
        memtable_bytes: all memtables together.
        filter_bytes: the filters of all expected keys.
        block_cache: the block cache; null if the store has none.
        total_bytes: the sum of memtables, filters and block cache.
    """

    memtable_bytes: int
    filter_bytes: int
    block_cache: CacheShare | None
    total_bytes: int


class Side(Recorded):
    """One of the configurations that a proof compares. Further fields are figures, each with its interval.

    The figures are those that every proof shows, and the fields of objectives and constraints.

    Attributes:
        configuration: values of the study's knobs, by knob.
        options: RocksDB's options as text, by section, at full size.
        memory: the memory that it may use; null for RocksDB's own defaults, which name no cache.
        keeps_constraints: whether the means of its runs keep all constraints.
        failures: status and message of each failed run.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Interval] = Field(init=False)

    configuration: dict[str, Value]
    options: OptionMaps
    memory: Memory | None = None
    keeps_constraints: bool = True
    failures: tuple[str, ...] = ()

    def figure(self, field: str) -> Interval:
        """Returns a figure by its field; `NOT_MEASURED` if the side does not have it."""
        return self.__pydantic_extra__.get(field, NOT_MEASURED)


class Baseline(Side):
    """The configuration to beat, a side of the proof. Further fields are figures, each with its interval.

    Attributes:
        source: origin of the configuration: "options_file", "tuning_guide" or "space_default".
    """

    source: str


class FrontPoint(Recorded):
    """A finalist with figures from fresh runs. Further fields are figures: geometric means over its runs.

    Attributes:
        configuration: values by knob.
        options: RocksDB's options as text, by section, at full size.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None] = Field(init=False)

    configuration: dict[str, Value]
    options: OptionMaps

    @property
    def figures(self) -> Mapping[str, float | None]:
        """The figures by measurement field, the objective's fields first."""
        return self.__pydantic_extra__


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


class Conditions(Recorded):
    """The conditions of a study.

    Attributes:
        study: name of the study.
        seed: seed of all its random numbers.
        objective: the measurement field to improve, "balance", or several fields with commas between them.
        constraints: the constraints as the user wrote them, such as "read_latency_us_p99<=250".
        workload: name of the workload.
        device: name of the device.
        space: name of the space.
        tuner: name of the tuner, or its file.
        ledger: URL of the ledger without the password.
        engine: name and version of the system that was measured.
        assertions: whether RocksDB was built with assertions, which make it slower than a release build.
        search_scale: "1/S", or "1" for full size.
        memory_bytes: the memory budget at full size; null without one.
        own_options_notes: sentences that say how the user's OPTIONS file was used.
        options_account: the account of each option of that file; null without one, and in older ledgers.
    """

    study: str
    seed: int
    objective: str
    constraints: tuple[str, ...] = ()
    workload: str
    device: str
    space: str
    tuner: str
    ledger: str
    engine: str
    assertions: bool
    search_scale: str
    memory_bytes: int | None = None
    own_options_notes: tuple[str, ...] = ()
    options_account: OptionsAccount | None = None


class Verification(Recorded):
    """The proof at one scale: the winner compared with the baseline and RocksDB's bare defaults.

    Attributes:
        verified_at_scale: "1/S", or "1" for full size; null if nothing was proven.
        device_busy_share: share of the device's bandwidth that the winner used; null without a limit.
        best: the tuned configuration; null if there was nothing to prove.
        baseline: the configuration to beat.
        rocksdb_defaults: RocksDB's bare defaults; null if nothing was proven.
        ratio_to_baseline: how many times better `best` is than `baseline` in the objective's first field.
        ratio_to_rocksdb_defaults: how many times better `best` is than `rocksdb_defaults` in that field.
        proof_pairs: number of pairs of runs behind the ratio.
        disturbed_pairs: number of pairs during which other programs took the processors, in all repeats.
        reason: "undecided: the machine was busy" if that were more than half of the pairs; else "".
        recommended: the configuration to use: "best" or "baseline".
    """

    verified_at_scale: str | None
    device_busy_share: float | None = None
    best: Side | None
    baseline: Baseline
    rocksdb_defaults: Side | None
    ratio_to_baseline: Interval | None
    ratio_to_rocksdb_defaults: Interval | None
    proof_pairs: int = 0
    disturbed_pairs: int = 0
    reason: str = ""
    recommended: Literal["best", "baseline"]

    @property
    def ratio(self) -> Interval:
        """The ratio to the baseline; `NOT_MEASURED` if nothing was proven."""
        return self.ratio_to_baseline or NOT_MEASURED

    @property
    def sides(self) -> dict[str, Side]:
        """The compared configurations that are not null, by field name, `best` first."""
        found = {"best": self.best, "baseline": self.baseline, "rocksdb_defaults": self.rocksdb_defaults}
        return {name: side for name, side in found.items() if side is not None}


class Outcome(Verification, Conditions):
    """The outcome of a study: its conditions, the proof at the largest scale, and the search's findings.

    Attributes:
        version: version of this layout; documents without one are older than versions.
        options_that_matter: the options that the search changed, the largest effect first.
        verifications: the proofs by scale.
        front: points of the Pareto front if one was sought, the best in the first field first.
        nearest_miss: the finalist that breaks the constraints least; null if a finalist keeps them.
        hypervolume: growth of the Pareto front during the search, if one was sought.
        models: the tuner's models, if it has any.
        seconds: the time that the study took.
        trials: number of trials by status.
        options_file: path of the OPTIONS file; null if there is nothing to export.
        report: path of the report.
        command: the command that repeats the study.
    """

    version: int = VERSION
    options_that_matter: tuple[OptionEffect, ...]
    verifications: dict[str, Verification]
    front: tuple[FrontPoint, ...] = ()
    nearest_miss: FrontPoint | None = None
    hypervolume: Hypervolume | None = None
    models: tuple[LearnedModel, ...] = ()
    seconds: Seconds
    trials: dict[str, int]
    options_file: str | None = None
    report: str | None = None
    command: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_older_versions(cls, document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        if (version := document.get("version", VERSION)) != VERSION:
            raise ValueError(f"version {version} is unknown; use the version of rocktune that wrote it")
        return {name: value for name, value in document.items() if name not in REMOVED_FIELDS}

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
