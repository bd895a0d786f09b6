"""Makes the outcome of a study from the results of its phases and its ledger."""

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
    Hypervolume,
    Interval,
    Memory,
    OptionEffect,
    Outcome,
    PassedOver,
    Seconds,
    Side,
    Verification,
)
from rocktune.space import Configuration, OptionMaps, Space
from rocktune.study.executors import Executor
from rocktune.study.measuring.kept import disturbed_s, kept_trials
from rocktune.study.measuring.loop import TIME
from rocktune.study.measuring.surroundings import file_systems_of
from rocktune.study.proving import lasting
from rocktune.study.proving.ablation import Effect
from rocktune.study.proving.bounds import bounds_of
from rocktune.study.proving.disturbed import BUSY
from rocktune.study.proving.front import front_beyond_noise
from rocktune.study.proving.hypervolume import hypervolume_over_time
from rocktune.study.proving.lasting import SUSTAINED
from rocktune.study.proving.picking import Picked
from rocktune.study.proving.robust import workload_ratios
from rocktune.study.proving.tail import Tail
from rocktune.study.proving.tail_choice import TailChoice
from rocktune.study.proving.verification import ROCKSDB_DEFAULTS, Proof
from rocktune.study.specs.problem import objective_of, own_account, own_notes, space_of
from rocktune.study.specs.spec import StudySpec
from rocktune.trial import Status
from rocktune.units import format_scale

PHASES = ("baseline", "search", "pick", "tails", "ablate", "prune", "prove", "offer")
SHOWN_FIELDS = ("throughput_ops_s", "read_latency_us_p99", "write_amplification")
MEMORY_FIELDS = ("memtable_bytes", "block_cache_bytes", "table_reader_bytes", "resident_bytes")

Options = Callable[[Configuration], OptionMaps]
"""Returns the full-size options that a configuration stands for."""


def recorded_outcome(ledger: Ledger, study: StudyRecord) -> Outcome | None:
    """Returns the recorded outcome of a study; None if the study is not finished.

    Raises:
        UserError: a newer version of rocktune wrote the outcome.
    """
    document = ledger.outcome(study)
    return None if document is None else Outcome.from_json(document)


def conditions(spec: StudySpec, executor: Executor, ledger: Ledger, study: StudyRecord) -> Conditions:
    """Returns the conditions of a study for its outcome."""
    return Conditions(
        study=spec.name,
        seed=spec.seed,
        objective=objective_named(spec.objective).name,
        constraints=spec.constraints,
        default_constraints=spec.default_constraints,
        workload=spec.workload.name,
        device=spec.device.name,
        space=spec.space.get("name", ""),
        tuner=spec.tuner,
        ledger=ledger.url,
        engine=executor.version,
        file_system=file_systems_of(ledger, study),
        # Engines that know it state it at the end of their version.
        assertions=executor.version.endswith("assertions on"),
        search_scale=format_scale(spec.scale),
        memory_bytes=spec.memory_bytes,
        own_options_notes=tuple(own_notes(spec)),
        options_account=own_account(spec),
        protocol=spec.protocol,
        prices=spec.prices,
    )


def proven(spec: StudySpec, proof: Proof, tail: Tail | None, options: Options, scale: int) -> Verification:
    """Returns the verification that a proof gives.

    Args:
        spec: the study.
        proof: the runs and their ratios.
        tail: the runs at an offered rate; None if there were none. The winner is recommended only if its tail
            is kept.
        options: see `Options`.
        scale: S of the proof.
    """

    def fields_of(configuration: Configuration) -> dict[str, Any]:
        """Returns the fields of one side of the proof."""
        failed = [result for result in proof.runs[configuration] if result.status is not Status.OK]
        steady = (SUSTAINED,) if spec.protocol == "steady" else ()
        figures = dict.fromkeys((*SHOWN_FIELDS, *steady, *MEMORY_FIELDS, *proof.objective.shown_fields))
        return {
            "configuration": dict(configuration),
            "options": options(configuration),
            # RocksDB's bare defaults do not set a cache, so its size is RocksDB's choice.
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
        bounds=bounds_of(objective_of(spec, scale), proof.objective),
        workloads=workload_ratios(spec, proof),
        proof_pairs=proof.ratio_to_baseline.repeats,
        stopped=proof.stopped,
        tail=None if tail is None else lasting.tail_proof(spec, tail),
        aged=lasting.aged_stores(proof),
        disturbed_pairs=proof.disturbed_pairs,
        reason=BUSY if proof.is_undecided or (tail is not None and tail.is_undecided) else "",
        recommended=proof.recommended if tail is None or lasting.keeps_tail(spec, tail) else "baseline",
    )


def _memory(spec: StudySpec, options: OptionMaps) -> Memory:
    """Returns the memory that full-size options may take."""
    return Memory(**space_of(spec).memory_shares(options).to_json())


def front_of(picked: Picked, objective: Objective, options: Options) -> tuple[FrontPoint, ...]:
    """Returns the points of the Pareto front, the best in the first field first; empty if none was sought.

    Args:
        picked: the finalists' figures.
        objective: the study's objective.
        options: see `Options`.
    """
    if not objective.seeks_front:
        return ()
    configurations = list(picked.rows)
    front = front_beyond_noise(list(picked.rows.values()), objective, picked.noise)
    numbers = {index: number for number, index in enumerate(front.points, 1)}
    return tuple(
        _point(picked, configurations[index], objective, options).model_copy(
            update={"alike": tuple(numbers[other] for other in alike)}
        )
        for index, alike in zip(front.points, front.alike, strict=True)
    )


def nearest_miss_of(picked: Picked, objective: Objective, options: Options) -> FrontPoint | None:
    """Returns the finalist that breaks the constraints least; None if a finalist keeps them.

    Args:
        picked: the finalists' figures.
        objective: the study's objective.
        options: see `Options`.
    """
    if picked.winner is None or picked.keeps_constraints(objective):
        return None
    return _point(picked, picked.winner, objective, options)


def passed_over(
    picked: Picked, choice: TailChoice | None, objective: Objective, options: Options
) -> tuple[PassedOver, ...]:
    """Returns the finalists that were better in the closed loop and not chosen, because of their tails.

    Args:
        picked: the finalists' figures.
        choice: the choice by tails; None if there was none.
        objective: see `front_of`.
        options: see `Options`.
    """
    if choice is None:
        return ()
    return tuple(
        PassedOver(
            **_point(picked, each, objective, options).explicit_fields(),
            p99_ratio=_finite(choice.ratios[each].p99_ratio),
            longest_wait_ratio=_finite(choice.ratios[each].longest_wait_ratio),
            p999_ratio=lasting.interval_of(choice.ratios[each].p999_ratio),
        )
        for each in choice.passed_over(picked.candidates(objective))
    )


def _finite(value: float) -> float | None:
    """Returns a number, None if it is not finite."""
    return value if math.isfinite(value) else None


def _point(
    picked: Picked, configuration: Configuration, objective: Objective, options: Options
) -> FrontPoint:
    """Returns a finalist as a point of a front."""
    row = picked.rows[configuration]
    figures = {field: _finite(row[field]) for field in objective.all_fields}
    return FrontPoint(configuration=dict(configuration), options=options(configuration), **figures)


def hypervolume_of(ledger: Ledger, study: StudyRecord, objective: Objective) -> Hypervolume | None:
    """Returns the growth of the hypervolume during a study's search; None unless a front was sought."""
    searched = [record for record in kept_trials(ledger, study) if record.phase == "search"]
    return hypervolume_over_time(searched, objective)


def _device_busy_share(spec: StudySpec, proof: Proof) -> float | None:
    """Returns the share of the device's bandwidth that the winner used; None if unknown."""
    windows = [result.measurement for result in proof.runs[proof.winner] if result.measurement is not None]
    seconds = sum(window.seconds for window in windows)
    if not spec.device.bandwidth_bytes_s or not seconds:
        return None
    share = sum(window.device_bytes for window in windows) / seconds / spec.device.bandwidth_bytes_s
    return None if math.isnan(share) else share


def unproven(
    spec: StudySpec, baseline: Configuration, objective: Objective, options: Options
) -> Verification:
    """Returns the verification of a study without a winner to prove; it recommends the baseline.

    Args:
        spec: the study.
        baseline: its baseline.
        objective: its objective with the bounds of the search.
        options: see `Options`.
    """
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
        bounds=bounds_of(objective_of(spec, spec.scale), objective),
        recommended="baseline",
    )


def baseline_source(spec: StudySpec) -> str:
    """Returns the origin of the baseline: "options_file", or the space's `default_source`."""
    return "options_file" if spec.base_options else space_of(spec).default_source


def options_that_matter(
    effects: Sequence[Effect],
    winner: Configuration,
    exported: Configuration,
    baseline: Configuration,
    space: Space,
) -> tuple[OptionEffect, ...]:
    """Returns the effect of each option in which winner and baseline differ, largest effect first.

    Args:
        effects: the effects that the ablation measured.
        winner: the winner before pruning.
        exported: the winner after pruning.
        baseline: the baseline.
        space: describes each option in a sentence.
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
    """Returns the seconds that a study took, by use.

    The last batch of a killed process is missing in `total`, because wall time is recorded after each batch.
    """
    measured = dict.fromkeys(PHASES, 0.0)
    for record in kept_trials(ledger, study):
        measured[record.phase] = measured.get(record.phase, 0.0) + record.measured_s
    again_s = disturbed_s(ledger, study)
    wall = {name: _wall_s(ledger, study, name) for name in ("opening", "loading", "repeated")}
    wall["ageing"] = math.fsum(
        record.window.raw["ageing"]["wall_s"]
        for record in ledger.trials(study)
        if record.window is not None and "ageing" in record.window.raw
    )
    # The engine counts ageing as a part of loading.
    wall["loading"] = max(0.0, wall["loading"] - wall["ageing"])
    measuring_s, total_s = sum(measured.values()), spent_s(ledger, study)
    # With several workers, measuring adds up to more than the wall time.
    other_s = max(0.0, total_s - measuring_s - again_s - sum(wall.values()))
    return Seconds(measuring=measuring_s, disturbed=again_s, other=other_s, total=total_s, **wall, **measured)


def trials_of(ledger: Ledger, study: StudyRecord) -> dict[str, int]:
    """Returns the number of trials by status, without repeats of disturbed runs."""
    return dict(sorted(Counter(str(record.status) for record in kept_trials(ledger, study)).items()))


def spent_s(ledger: Ledger, study: StudyRecord) -> float:
    """Returns the recorded wall seconds of a study."""
    return _wall_s(ledger, study, "wall")


def _wall_s(ledger: Ledger, study: StudyRecord, kind: str) -> float:
    """Returns the recorded wall seconds of one use; see `TIME`."""
    return math.fsum(event.payload[f"{kind}_s"] for event in ledger.events(study, TIME))
