"""The outcome of a study, which the ledger keeps and report, export and command line read.

A field with a default may be missing in a document: older versions did not write it.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rocktune.space import OptionMaps
from rocktune.space.configuration import Value
from rocktune.spec_file import validated

VERSION = 1
"""Of the documents that are written now; those of before it have no version, and are read as well."""

REMOVED_FIELDS = frozenset({"twins"})
"""Fields of an outcome that earlier versions wrote and this one ignores. `twins` counted the trials that took
the figures of an earlier trial because RocksDB had opened both with the same options."""


class Recorded(BaseModel):
    """A part of an outcome; an unknown field is an error where no further ones are described."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def said(self) -> dict[str, Any]:
        """Returns by name the fields that were given a value, parts of the outcome as they are."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class Interval(Recorded):
    """A figure or ratio with its two-sided 95% interval.

    Attributes:
        value: the estimate; null where nothing was measured.
        low: lower end; null where it is not finite.
        high: upper end; null where it is not finite.
        repeats: number of values, or of pairs, that it rests on.
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
        capacity_bytes: its capacity.
        settings: text by name of what RocksDB would otherwise choose.
    """

    kind: str
    capacity_bytes: int
    settings: dict[str, str]


class Memory(Recorded):
    """The memory that a configuration may take, at full size.

    Attributes:
        memtable_bytes: all memtables.
        filter_bytes: the filters of all expected keys.
        block_cache: null for a store without one.
        total_bytes: their sum.
    """

    memtable_bytes: int
    filter_bytes: int
    block_cache: CacheShare | None
    total_bytes: int


class Side(Recorded):
    """One of the configurations that a proof compares. Further fields are figures, each with its interval.

    They are those that every proof shows, and the fields of objectives and constraints.

    Attributes:
        configuration: value by knob, as the study's space has them.
        options: RocksDB's options as text, by section, at full size.
        memory: what it may take; null for RocksDB's own defaults, which name no cache.
        keeps_constraints: whether the means of its runs keep the constraints.
        failures: status and message of each run that failed.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Interval] = Field(init=False)

    configuration: dict[str, Value]
    options: OptionMaps
    memory: Memory | None = None
    keeps_constraints: bool = True
    failures: tuple[str, ...] = ()

    def figure(self, field: str) -> Interval:
        """Returns a figure; without a value where it is not known."""
        return self.__pydantic_extra__.get(field, NOT_MEASURED)


class Baseline(Side):
    """The configuration to beat, a side of the proof. Further fields are figures, each with its interval.

    Attributes:
        source: where it comes from: "options_file", "tuning_guide" or "space_default".
    """

    source: str


class FrontPoint(Recorded):
    """A configuration that was measured afresh. Further fields are figures: geometric means over its runs.

    Attributes:
        configuration: value by knob.
        options: RocksDB's options as text, by section, at full size.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, float | None] = Field(init=False)

    configuration: dict[str, Value]
    options: OptionMaps

    @property
    def figures(self) -> Mapping[str, float | None]:
        """The figures by measurement field, those of the objectives first."""
        return self.__pydantic_extra__


class OptionEffect(Recorded):
    """The effect of one option that the search changed.

    Attributes:
        option: its name.
        before: `from` in JSON; the baseline's value, null where it has none.
        after: `to` in JSON; the winner's value before pruning, null where it has none.
        effect_ratio: how many times better the winner is than the winner with this option set back.
        matters: whether the whole interval lies above 1.
        verdict: "helps", "harms", "undecided" or "not measurable".
        together_with: the options that had to be set back with it.
        kept: whether the exported configuration has it.
        effect: one sentence on what the option does.
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
        bounds: by objective field, its worst and its best value that the search saw at full age.
        by_time: (seconds of measuring, share of the box between the bounds that the front dominates).
    """

    bounds: dict[str, tuple[float, float]]
    by_time: tuple[tuple[float, float], ...]


class LearnedModel(Recorded):
    """A model of the search's tuner, as it was at the end.

    Attributes:
        length_scales: by knob, in widths of its range; the shorter, the more the knob matters.
        tasks: the figures that it models.
        correlations: between tasks, row by row; may be empty for one task.
    """

    length_scales: dict[str, float]
    tasks: tuple[str, ...]
    correlations: tuple[tuple[float, ...], ...] = ()


class Seconds(Recorded):
    """The time that a study took, in seconds. Further fields are measuring in `verify 1/S` by scale.

    With several workers all fields but `total` are sums over the workers.

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
        other: what is left of `total`.
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
    other: float
    total: float


class Conditions(Recorded):
    """The conditions of a study.

    Attributes:
        study: its name.
        seed: decides all random numbers.
        objective: the measurement field to improve, "balance", or several fields with commas between them.
        constraints: as they were given, such as "read_latency_us_p99<=250".
        workload: its name.
        device: its name.
        space: its name.
        tuner: its name or file.
        ledger: the URL, without a password.
        engine: the version that measured.
        assertions: whether RocksDB was built with assertions, and so is slower than a release build.
        search_scale: "1/S", or "1" for full size.
        memory_bytes: the memory budget at full size; null where there was none.
        own_options_notes: how the user's OPTIONS file was taken, in sentences.
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


class Verification(Recorded):
    """The proof at one scale: the winner beside the baseline and RocksDB's defaults.

    Attributes:
        verified_at_scale: "1/S", or "1" for full size; null where nothing was proven.
        device_busy_share: of the device's bandwidth, what the winner used; null without a limit.
        best: the tuned configuration; null where there was nothing to prove.
        baseline: the configuration to beat.
        rocksdb_defaults: RocksDB with nothing set; null where nothing was proven.
        ratio_to_baseline: how many times better `best` is in the first field of the objective.
        ratio_to_rocksdb_defaults: the same, over RocksDB's defaults.
        proof_pairs: pairs of runs that the ratio rests on.
        recommended: "best" or "baseline".
    """

    verified_at_scale: str | None
    device_busy_share: float | None = None
    best: Side | None
    baseline: Baseline
    rocksdb_defaults: Side | None
    ratio_to_baseline: Interval | None
    ratio_to_rocksdb_defaults: Interval | None
    proof_pairs: int = 0
    recommended: Literal["best", "baseline"]

    @property
    def ratio(self) -> Interval:
        """The ratio to the baseline; without a value where nothing was proven."""
        return self.ratio_to_baseline or NOT_MEASURED

    @property
    def sides(self) -> dict[str, Side]:
        """The compared configurations by field, `best` first; what is null is left out."""
        found = {"best": self.best, "baseline": self.baseline, "rocksdb_defaults": self.rocksdb_defaults}
        return {name: side for name, side in found.items() if side is not None}


class Outcome(Verification, Conditions):
    """The outcome of a study: its conditions, the proof at the largest scale, and what else was found.

    Attributes:
        version: of this layout; documents without one were written before there were versions.
        options_that_matter: each option that the search changed, the largest effect first.
        verifications: by scale, the proof there.
        front: where a Pareto front was sought, its points, the best in the first field first.
        nearest_miss: where no finalist keeps the constraints, the one that breaks them least.
        hypervolume: where a Pareto front was sought, how it grew.
        models: those of the tuner, where it has models.
        seconds: where the time went.
        trials: number of trials by status.
        options_file: path of the OPTIONS file; null where there is nothing to export.
        report: path of the report.
        command: the command that does the study again.
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
    def _drop_removed_fields(cls, document: Any) -> Any:
        if not isinstance(document, dict):
            return document
        return {name: value for name, value in document.items() if name not in REMOVED_FIELDS}

    @model_validator(mode="before")
    @classmethod
    def _refuse_newer_versions(cls, document: Any) -> Any:
        version = document.get("version", VERSION) if isinstance(document, dict) else VERSION
        if version != VERSION:
            raise ValueError(f"version {version} is not known here; use the rocktune that wrote it")
        return document

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Outcome":
        """Returns the outcome that a document of this or an earlier version holds.

        Raises:
            UserError: it holds none, or one of a later version.
        """
        return validated(cls, dict(document), f"outcome of study '{document.get('study', '')}'")

    def to_json(self) -> dict[str, Any]:
        """Returns the document. What an older one lacked is not made up, apart from the version."""
        fields = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        return {"version": self.version} | fields
