"""Proves an upgrade: runs of two versions of RocksDB with one OPTIONS file, in pairs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from rocktune.engine import Engine
from rocktune.engine.versions import VERSION, configuration_of
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord
from rocktune.space import Configuration
from rocktune.study import seeds
from rocktune.study.executors import Executor, executor_of
from rocktune.study.measuring.interrupt import Interrupt, StudyInterrupted, continuing_arguments
from rocktune.study.measuring.kept import kept_trials
from rocktune.study.measuring.loop import Loop, StopRequested
from rocktune.study.measuring.observer import Observer
from rocktune.study.measuring.score import equal_score
from rocktune.study.proving.disturbed import BUSY, disturbed_pairs, is_undecided
from rocktune.study.proving.statistics import Interval, mean_interval, ratio_interval
from rocktune.study.proving.verification import interleaved
from rocktune.study.specs.problem import space_of
from rocktune.study.specs.spec import UpgradeSpec
from rocktune.trial import Experiment, Result, Status

FIELDS = (
    "throughput_ops_s",
    "read_latency_us_p99",
    "write_latency_us_p99",
    "stalled_share",
    "write_amplification",
    "space_amplification",
)
"""The figures that a proof compares, the one that decides first."""

_OPENING_S = 0.5

Verdict = Literal["faster", "slower", "no difference proven"]


@dataclass(frozen=True)
class Compared:
    """One figure with both versions.

    Attributes:
        old: mean with the older version.
        new: mean with the newer version.
        ratio: newer over older, from pairs; NaN if a pair has none, because a figure is 0 or a run failed.
    """

    old: Interval
    new: Interval
    ratio: Interval

    def to_json(self) -> dict[str, Any]:
        """Returns the attributes as JSON objects."""
        return {name: interval.to_json() for name, interval in vars(self).items()}


@dataclass(frozen=True)
class UpgradeProof:
    """The result of the runs of an upgrade.

    Attributes:
        engines: the systems that measured the older and the newer version, as their runs say; "" if none of
            its runs ended well.
        figures: each of `FIELDS` that was measured.
        failures: status and message of each failed run, those of the older version first, each with its
            version.
        disturbed_pairs: number of pairs during which other programs took the processors, in all repeats.
        is_undecided: whether these are so many that the ratios decide nothing.
    """

    engines: tuple[str, str]
    figures: Mapping[str, Compared]
    failures: tuple[str, ...]
    disturbed_pairs: int = 0
    is_undecided: bool = False

    @property
    def verdict(self) -> Verdict:
        """Whether the newer version is faster: the interval of the throughput's ratio decides.

        Nothing is proven if a run failed, or if the machine was busy.
        """
        compared = self.figures.get(FIELDS[0])
        nothing = self.failures or self.is_undecided
        if compared is None or nothing or not compared.ratio.excludes(1.0):
            return "no difference proven"
        return "faster" if compared.ratio.value > 1 else "slower"

    @property
    def caution(self) -> str:
        """A sentence on what else than the version differs between the two; "" if nothing does."""
        old, new = (engine.endswith("assertions on") for engine in self.engines)
        if old == new:
            return ""
        slowed = self.engines[0 if old else 1].partition(",")[0]
        return f"{slowed} is built with assertions, which make it slower than a release build."

    def to_json(self) -> dict[str, Any]:
        """Returns the attributes, `verdict` and `caution`."""
        return {
            "verdict": self.verdict,
            "caution": self.caution,
            "engines": list(self.engines),
            "figures": {field: compared.to_json() for field, compared in self.figures.items()},
            "failures": list(self.failures),
            "disturbed_pairs": self.disturbed_pairs,
            "reason": BUSY if self.is_undecided else "",
        }


def upgrade_s(spec: UpgradeSpec) -> float:
    """Returns the estimated wall seconds of an upgrade's runs, without loading data."""
    return 2 * spec.pairs * (spec.measured_s + _OPENING_S)


def run_upgrade(
    spec: UpgradeSpec, engine: Engine | Executor, ledger: Ledger, observer: Observer | None = None
) -> UpgradeProof:
    """Measures the runs of an upgrade that are not recorded yet, and returns the proof from all runs.

    Ctrl-C ends it after the trials that are being measured; a second Ctrl-C ends it at once. All recorded
    trials stay.

    Args:
        spec: the upgrade.
        engine: an engine of both versions, or an executor with such engines. It stays open.
        ledger: records all trials.
        observer: is informed of progress; nobody by default.

    Raises:
        StudyInterrupted: the user pressed Ctrl-C.
        UserError: the name is taken in the ledger, or another process runs the upgrade.
    """
    study = ledger.create_study(spec.name, spec.model_dump(mode="json"), engine.version)
    with ledger.lock(study):
        if study.state != "finished":
            _measure(spec, executor_of(engine), ledger, study, observer or Observer())
            ledger.set_state(study, "finished")
        return proof_of(spec, ledger, study)


def proof_of(spec: UpgradeSpec, ledger: Ledger, study: StudyRecord) -> UpgradeProof:
    """Returns the proof from the recorded runs of an upgrade.

    Raises:
        UserError: the upgrade is not finished.
    """
    results = [record.result for record in kept_trials(ledger, study)]
    if len(results) < 2 * spec.pairs:
        raise UserError(f"study '{study.name}' is not finished; 'rocktune resume {study.name}' continues it")
    results.sort(key=lambda result: result.trial.replicate)
    old, new = (
        [result for result in results if result.trial.configuration == configuration_of(version)]
        for version in spec.engine.rocksdb
    )
    return _proof(old, new)


def _measure(
    spec: UpgradeSpec, executor: Executor, ledger: Ledger, study: StudyRecord, observer: Observer
) -> None:
    """Measures the runs of both versions that are not recorded; raises StudyInterrupted at Ctrl-C."""
    experiments = _experiments(spec)
    interrupt = Interrupt(observer)

    def engine_inputs(configuration: Configuration, replicate: int) -> tuple[Experiment, Configuration, int]:
        loaded = replace(experiments[str(configuration[VERSION])], base_seed=seeds.base_seed_of(replicate))
        return loaded, configuration, seeds.seed_of(spec.seed, replicate)

    loop = Loop(executor, engine_inputs, equal_score, ledger, study, observer, interrupt)
    ledger.set_state(study, "prove")
    observer.phase_started("prove", upgrade_s(spec))
    replicates = range(seeds.PROVE, seeds.PROVE + spec.pairs)
    stage = interleaved(map(configuration_of, spec.engine.rocksdb), replicates, spec.measured_s)
    try:
        with interrupt:
            loop.run("prove", stage, continues_runs=False, paired=True)
    except StopRequested:
        ledger.set_state(study, "interrupted")
        resume = f"rocktune resume {spec.name}{continuing_arguments(ledger, executor)}"
        done = len(kept_trials(ledger, study))
        so_far = f"{done} of {2 * spec.pairs} runs are measured."
        raise StudyInterrupted(spec.name, None, None, resume, so_far) from None


def _experiments(spec: UpgradeSpec) -> dict[str, Experiment]:
    """Returns the experiment of each version, which has the file's options as the version reads them."""
    experiments = {}
    for version, options in zip(spec.engine.rocksdb, (spec.base_options, spec.new_options), strict=True):
        space = space_of(spec.model_copy(update={"base_options": options}))
        experiments[version] = Experiment(spec.workload, spec.device, spec.scale, space, options or {})
    return experiments


def _proof(old: Sequence[Result], new: Sequence[Result]) -> UpgradeProof:
    """Returns the proof from the results of both versions, in the order of their replicates."""
    figures = {}
    for field in FIELDS:
        before, after = ([result.figure(field) for result in side] for side in (old, new))
        ratio = ratio_interval(after, before)
        if ratio.repeats < len(before):
            # The pairs left out are those without a stall, so that the others alone would mislead.
            ratio = mean_interval([])
        compared = Compared(mean_interval(before), mean_interval(after), ratio)
        if compared.old.repeats and compared.new.repeats:
            figures[field] = compared
    failures = tuple(
        f"RocksDB {result.trial.configuration[VERSION]}: {result.status}: {result.message}"
        for result in (*old, *new)
        if result.status is not Status.OK
    )
    disturbed = disturbed_pairs((*old, *new))
    undecided = is_undecided(disturbed, len(old))
    return UpgradeProof((_engine_of(old), _engine_of(new)), figures, failures, disturbed, undecided)


def _engine_of(results: Sequence[Result]) -> str:
    """Returns the systems that measured some runs, as the runs themselves record it."""
    recorded = [result.measurement.engine for result in results if result.measurement is not None]
    return ", ".join(dict.fromkeys(recorded))
