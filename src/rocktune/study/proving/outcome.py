"""What came out of a study, as the JSON that the ledger keeps and that report and command line read."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from rocktune.ledger import Ledger, StudyRecord
from rocktune.objective import Objective, objective_named
from rocktune.space import Configuration, OptionMaps, Space
from rocktune.study.executors import Executor
from rocktune.study.measuring.evaluation import TWIN
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


def conditions(spec: StudySpec, executor: Executor, ledger: Ledger) -> dict[str, Any]:
    """Returns what was measured under which conditions."""
    return {
        "study": spec.name,
        "seed": spec.seed,
        "objective": objective_named(spec.objective).name,
        "constraints": list(spec.constraints),
        "workload": spec.workload.name,
        "device": spec.device.name,
        "space": spec.space.get("name", ""),
        "tuner": spec.tuner,
        "ledger": ledger.url,
        "engine": executor.version,
        "assertions": executor.version.endswith("assertions on"),
        "search_scale": format_scale(spec.scale),
        "memory_bytes": spec.memory_bytes,
        "own_options_notes": own_notes(spec),
    }


def proven(spec: StudySpec, proof: Proof, options: Options, scale: int) -> dict[str, Any]:
    """Returns what a proof says.

    Args:
        spec: the study.
        proof: the runs and their ratios.
        options: see `Options`.
        scale: S of the proof.
    """
    space = space_of(spec)

    def side(configuration: Configuration) -> dict[str, Any]:
        failed = [result for result in proof.runs[configuration] if result.status is not Status.OK]
        fields = dict.fromkeys((*SHOWN_FIELDS, *MEMORY_FIELDS, *proof.objective.all_fields))
        figures = {field: proof.figure(configuration, field).to_json() for field in fields}
        return {
            "configuration": dict(configuration),
            "options": options(configuration),
            # RocksDB's defaults name no cache: it makes one of its own choice.
            "memory": space.memory_shares(options(configuration)).to_json() if configuration else None,
            **figures,
            "keeps_constraints": proof.keeps_constraints(configuration),
            "failures": [f"{result.status}: {result.message}" for result in failed],
        }

    return {
        "verified_at_scale": format_scale(scale),
        "device_busy_share": _device_busy_share(spec, proof),
        "best": side(proof.winner),
        "baseline": side(proof.baseline) | {"source": baseline_source(spec)},
        "rocksdb_defaults": side(ROCKSDB_DEFAULTS),
        "ratio_to_baseline": proof.ratio_to_baseline.to_json(),
        "ratio_to_rocksdb_defaults": proof.ratio_to_rocksdb_defaults.to_json(),
        "proof_pairs": proof.ratio_to_baseline.repeats,
        "recommended": proof.recommended,
    }


def picked(picked: Picked, objective: Objective, options: Options) -> dict[str, Any]:
    """Returns what the finalists' fresh runs say beyond who won.

    Args:
        picked: the finalists' figures.
        objective: what was sought.
        options: see `Options`.

    Returns:
        `front`: where one was sought, its points, the best in the first field first. `nearest_miss`: where no
        finalist keeps the constraints, the one that breaks them least, with the bounds.
    """
    configurations, rows = list(picked.rows), list(picked.rows.values())

    def point(index: int) -> dict[str, Any]:
        configuration = configurations[index]
        figures = {field: rows[index][field] for field in objective.all_fields}
        return {"configuration": dict(configuration), "options": options(configuration)} | figures

    front = objective.front(rows) if objective.seeks_front else []
    missed = picked.winner is not None and not picked.keeps_constraints(objective)
    nearest = configurations.index(picked.winner) if missed and picked.winner is not None else None
    return {
        "front": [point(index) for index in front],
        "nearest_miss": None if nearest is None else point(nearest),
    }


def models(ledger: Ledger, study: StudyRecord) -> list[dict[str, Any]]:
    """Returns what the search's last models had learned, where its tuner has models.

    Returns:
        Of each model `length_scales` (by knob), `tasks`, and where there are several their `correlations`.
    """
    said = [event.payload["models"] for event in ledger.events(study, EXPLAINED) if "models" in event.payload]
    return said[-1] if said else []


def _device_busy_share(spec: StudySpec, proof: Proof) -> float | None:
    """Returns how much of the device's bandwidth the winner used; None without a limit or a count."""
    windows = [result.measurement for result in proof.runs[proof.winner] if result.measurement is not None]
    seconds = sum(window.seconds for window in windows)
    if not spec.device.bandwidth_bytes_s or not seconds:
        return None
    share = sum(window.device_bytes for window in windows) / seconds / spec.device.bandwidth_bytes_s
    return None if math.isnan(share) else share


def unproven(spec: StudySpec, baseline: Configuration, options: Options) -> dict[str, Any]:
    """Returns what there is to say when every configuration of the search failed."""
    return {
        "verified_at_scale": None,
        "device_busy_share": None,
        "best": None,
        "baseline": {
            "configuration": dict(baseline),
            "options": options(baseline),
            "memory": space_of(spec).memory_shares(options(baseline)).to_json(),
            "source": baseline_source(spec),
        },
        "rocksdb_defaults": None,
        "ratio_to_baseline": None,
        "ratio_to_rocksdb_defaults": None,
        "recommended": "baseline",
    }


def baseline_source(spec: StudySpec) -> str:
    """Returns where the baseline comes from: "options_file", or the space's `default_source`."""
    return "options_file" if spec.base_options else space_of(spec).default_source


def options_that_matter(
    effects: Sequence[Effect],
    winner: Configuration,
    exported: Configuration,
    baseline: Configuration,
    space: Space,
) -> list[dict[str, Any]]:
    """Returns what each option does in which winner and baseline differ, largest effect first.

    Args:
        effects: as the ablation found them.
        winner: before pruning.
        exported: after pruning.
        baseline: the other end of each change.
        space: knows what each option does.
    """
    sentences = {knob.name: knob.effect for knob in space.knobs}
    return [
        {
            "option": name,
            "from": baseline.get(name),
            "to": winner.get(name),
            "effect_ratio": effect.ratio.to_json(),
            "matters": effect.matters,
            "verdict": effect.verdict,
            "together_with": [other for other in effect.reverted if other != name],
            "kept": exported.get(name) == winner.get(name),
            "effect": sentences.get(name, ""),
        }
        for effect in effects
        for name in effect.options
    ]


def counted(ledger: Ledger, study: StudyRecord) -> dict[str, Any]:
    """Returns where the time went, how many trials ended how, and how many a twin answered.

    `seconds` has measuring by phase and in sum, and of the wall time `opening`, `loading`, `repeated` (load
    that was run again because a run had been discarded), `other` and `total`. A killed process' last batch is
    not in `total`. Where several workers measure at once, everything but `total` adds up over them, and may
    come to more than it.
    """
    records = ledger.trials(study)
    measured = dict.fromkeys(PHASES, 0.0)
    for record in records:
        measured[record.phase] = measured.get(record.phase, 0.0) + record.measured_s
    wall = {name: _wall_s(ledger, study, name) for name in ("opening", "loading", "repeated")}
    total_s = spent_s(ledger, study)
    other_s = max(0.0, total_s - sum(measured.values()) - sum(wall.values()))
    statuses = Counter(str(record.status) for record in records)
    return {
        "seconds": {
            **measured,
            "measuring": sum(measured.values()),
            **wall,
            "other": other_s,
            "total": total_s,
        },
        "trials": dict(sorted(statuses.items())),
        # A process that was killed may have said it of a trial that was then asked for again.
        "twins": len(
            {(event.payload["batch"], event.payload["index"]) for event in ledger.events(study, TWIN)}
        ),
    }


def spent_s(ledger: Ledger, study: StudyRecord) -> float:
    """Returns the wall seconds that a study has taken so far."""
    return _wall_s(ledger, study, "wall")


def _wall_s(ledger: Ledger, study: StudyRecord, kind: str) -> float:
    return math.fsum(event.payload[f"{kind}_s"] for event in ledger.events(study, TIME))
