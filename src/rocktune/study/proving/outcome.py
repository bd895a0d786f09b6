"""Makes the outcome of a study from its runs and from what the ledger recorded."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rocktune.ledger import Ledger, StudyRecord
from rocktune.objective import Objective, objective_named
from rocktune.outcome import (
    Baseline,
    Conditions,
    FrontPoint,
    Interval,
    LearnedModel,
    Memory,
    OptionEffect,
    Outcome,
    Seconds,
    Side,
    Verification,
)
from rocktune.space import Configuration, OptionMaps, Space
from rocktune.spec_file import validated
from rocktune.study.executors import Executor
from rocktune.study.measuring.loop import EXPLAINED, TIME
from rocktune.study.proving.ablation import Effect
from rocktune.study.proving.verification import ROCKSDB_DEFAULTS, Picked, Proof
from rocktune.study.specs.problem import own_notes, space_of
from rocktune.study.specs.spec import StudySpec
from rocktune.trial import Status
from rocktune.units import format_scale

PHASES = ("baseline", "search", "pick", "ablate", "prune", "prove")
SHOWN_FIELDS = ("throughput_ops_s", "read_latency_us_p99", "write_amplification")
MEMORY_FIELDS = ("memtable_bytes", "block_cache_bytes", "table_reader_bytes", "resident_bytes")

Options = Callable[[Configuration], OptionMaps]
"""Returns the full-size options that a configuration stands for."""


def recorded_outcome(ledger: Ledger, study: StudyRecord) -> Outcome | None:
    """Returns the outcome that a ledger holds of a study; None for one that is not finished.

    Raises:
        UserError: a newer version of rocktune wrote it.
    """
    document = ledger.outcome(study)
    return None if document is None else Outcome.from_json(document)


def conditions(spec: StudySpec, executor: Executor, ledger: Ledger) -> Conditions:
    """Returns what was measured under which conditions."""
    return Conditions(
        study=spec.name,
        seed=spec.seed,
        objective=objective_named(spec.objective).name,
        constraints=spec.constraints,
        workload=spec.workload.name,
        device=spec.device.name,
        space=spec.space.get("name", ""),
        tuner=spec.tuner,
        ledger=ledger.url,
        engine=executor.version,
        assertions=executor.version.endswith("assertions on"),
        search_scale=format_scale(spec.scale),
        memory_bytes=spec.memory_bytes,
        own_options_notes=tuple(own_notes(spec)),
    )


def proven(spec: StudySpec, proof: Proof, options: Options, scale: int) -> Verification:
    """Returns what a proof says.

    Args:
        spec: the study.
        proof: the runs and their ratios.
        options: see `Options`.
        scale: S of the proof.
    """

    def fields_of(configuration: Configuration) -> dict[str, Any]:
        failed = [result for result in proof.runs[configuration] if result.status is not Status.OK]
        figures = dict.fromkeys((*SHOWN_FIELDS, *MEMORY_FIELDS, *proof.objective.all_fields))
        return {
            "configuration": dict(configuration),
            "options": options(configuration),
            # RocksDB's defaults name no cache: it makes one of its own choice.
            "memory": _memory(spec, options(configuration)) if configuration else None,
            **{field: proof.figure(configuration, field).to_json() for field in figures},
            "keeps_constraints": proof.keeps_constraints(configuration),
            "failures": tuple(f"{result.status}: {result.message}" for result in failed),
        }

    return Verification(
        verified_at_scale=format_scale(scale),
        device_busy_share=_device_busy_share(spec, proof),
        best=Side(**fields_of(proof.winner)),
        baseline=Baseline(source=baseline_source(spec), **fields_of(proof.baseline)),
        rocksdb_defaults=Side(**fields_of(ROCKSDB_DEFAULTS)),
        ratio_to_baseline=Interval(**proof.ratio_to_baseline.to_json()),
        ratio_to_rocksdb_defaults=Interval(**proof.ratio_to_rocksdb_defaults.to_json()),
        proof_pairs=proof.ratio_to_baseline.repeats,
        recommended=proof.recommended,
    )


def _memory(spec: StudySpec, options: OptionMaps) -> Memory:
    return Memory(**space_of(spec).memory_shares(options).to_json())


def front_of(picked: Picked, objective: Objective, options: Options) -> tuple[FrontPoint, ...]:
    """Returns the front's points, the best in the first field first; none where no front was sought.

    Args:
        picked: the finalists' figures.
        objective: what was sought.
        options: see `Options`.
    """
    if not objective.seeks_front:
        return ()
    configurations = list(picked.rows)
    front = objective.front(list(picked.rows.values()))
    return tuple(_point(picked, configurations[index], objective, options) for index in front)


def nearest_miss_of(picked: Picked, objective: Objective, options: Options) -> FrontPoint | None:
    """Returns the finalist that breaks the constraints least where none keeps them, else None.

    Args:
        picked: the finalists' figures.
        objective: what was sought.
        options: see `Options`.
    """
    if picked.winner is None or picked.keeps_constraints(objective):
        return None
    return _point(picked, picked.winner, objective, options)


def _point(
    picked: Picked, configuration: Configuration, objective: Objective, options: Options
) -> FrontPoint:
    row = picked.rows[configuration]
    figures = {field: row[field] if math.isfinite(row[field]) else None for field in objective.all_fields}
    return FrontPoint(configuration=dict(configuration), options=options(configuration), **figures)


def models(ledger: Ledger, study: StudyRecord) -> tuple[LearnedModel, ...]:
    """Returns what the search's last models had learned; empty where its tuner has no models.

    Raises:
        UserError: a tuner from a file described its models otherwise than `LearnedModel` says.
    """
    said = [event.payload["models"] for event in ledger.events(study, EXPLAINED) if "models" in event.payload]
    return tuple(validated(LearnedModel, model, "the tuner's models") for model in said[-1]) if said else ()


def _device_busy_share(spec: StudySpec, proof: Proof) -> float | None:
    """Returns how much of the device's bandwidth the winner used; None without a limit or a count."""
    windows = [result.measurement for result in proof.runs[proof.winner] if result.measurement is not None]
    seconds = sum(window.seconds for window in windows)
    if not spec.device.bandwidth_bytes_s or not seconds:
        return None
    share = sum(window.device_bytes for window in windows) / seconds / spec.device.bandwidth_bytes_s
    return None if math.isnan(share) else share


def unproven(spec: StudySpec, baseline: Configuration, options: Options) -> Verification:
    """Returns what there is to say when every configuration of the search failed."""
    return Verification(
        verified_at_scale=None,
        device_busy_share=None,
        best=None,
        baseline=Baseline(
            configuration=dict(baseline),
            options=options(baseline),
            memory=_memory(spec, options(baseline)),
            source=baseline_source(spec),
        ),
        rocksdb_defaults=None,
        ratio_to_baseline=None,
        ratio_to_rocksdb_defaults=None,
        recommended="baseline",
    )


def baseline_source(spec: StudySpec) -> str:
    """Returns where the baseline comes from: "options_file", or the space's `default_source`."""
    return "options_file" if spec.base_options else space_of(spec).default_source


def options_that_matter(
    effects: Sequence[Effect],
    winner: Configuration,
    exported: Configuration,
    baseline: Configuration,
    space: Space,
) -> tuple[OptionEffect, ...]:
    """Returns what each option does in which winner and baseline differ, largest effect first.

    Args:
        effects: as the ablation found them.
        winner: before pruning.
        exported: after pruning.
        baseline: the other end of each change.
        space: knows what each option does.
    """
    sentences = {knob.name: knob.effect for knob in space.knobs}
    return tuple(
        OptionEffect(
            option=name,
            before=baseline.get(name),
            after=winner.get(name),
            effect_ratio=Interval(**effect.ratio.to_json()),
            matters=effect.matters,
            verdict=effect.verdict,
            together_with=tuple(other for other in effect.reverted if other != name),
            kept=exported.get(name) == winner.get(name),
            effect=sentences.get(name, ""),
        )
        for effect in effects
        for name in effect.options
    )


def seconds_of(ledger: Ledger, study: StudyRecord) -> Seconds:
    """Returns where a study's time went. A killed process' last batch is not in `total`."""
    measured = dict.fromkeys(PHASES, 0.0)
    for record in ledger.trials(study):
        measured[record.phase] = measured.get(record.phase, 0.0) + record.measured_s
    wall = {name: _wall_s(ledger, study, name) for name in ("opening", "loading", "repeated")}
    measuring_s, total_s = sum(measured.values()), spent_s(ledger, study)
    other_s = max(0.0, total_s - measuring_s - sum(wall.values()))
    return Seconds(measuring=measuring_s, other=other_s, total=total_s, **wall, **measured)


def trials_of(ledger: Ledger, study: StudyRecord) -> dict[str, int]:
    """Returns how many trials ended with which status."""
    return dict(sorted(Counter(str(record.status) for record in ledger.trials(study)).items()))


def spent_s(ledger: Ledger, study: StudyRecord) -> float:
    """Returns the wall seconds that a study has taken so far."""
    return _wall_s(ledger, study, "wall")


def _wall_s(ledger: Ledger, study: StudyRecord, kind: str) -> float:
    return math.fsum(event.payload[f"{kind}_s"] for event in ledger.events(study, TIME))
