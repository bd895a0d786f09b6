"""The report of a study: result, proof, search, all trials, and how to reproduce it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocktune.ledger import StudyRecord, TrialRecord
from rocktune.outcome import Outcome
from rocktune.report import bounds, figures, fronts, lasting, learned, sections
from rocktune.report.arms import arm_results
from rocktune.report.cost import cost_section
from rocktune.report.document import document, write_document
from rocktune.report.findings import headline
from rocktune.report.memory import memory_section
from rocktune.report.own_options import own_options_section
from rocktune.report.robust import workloads_section
from rocktune.report.tried import tried_section


def write_report(path: Path, study: StudyRecord, outcome: Outcome, trials: Sequence[TrialRecord]) -> None:
    """Writes the report of a finished study, replacing the file atomically; see `render_report`."""
    write_document(path, render_report(study, outcome, trials, arm_results(study, trials)))


def render_report(
    study: StudyRecord,
    outcome: Outcome,
    trials: Sequence[TrialRecord],
    arms: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Returns the report of a finished study as HTML.

    Args:
        study: record of the study.
        outcome: outcome of the study.
        trials: all recorded trials in order.
        arms: Dremel's arms as `arms.arm_results` returns them; empty for other tuners.
    """
    runs = figures.proof_runs(outcome, trials)
    body = (
        sections.result(study, outcome)
        + sections.recommendation(outcome)
        + sections.options(outcome)
        + sections.comparison(outcome, runs)
        + bounds.section(outcome)
        + lasting.section(outcome)
        + workloads_section(outcome)
        + cost_section(outcome)
        + memory_section(outcome)
        + own_options_section(outcome)
        + tried_section(study, outcome, trials)
        + _figures(outcome, trials, runs, arms)
        + sections.trials(outcome, trials)
        + sections.reproduction(study, outcome)
    )
    return document(f"{headline(outcome)} · {study.name}", body)


def _figures(
    outcome: Outcome,
    trials: Sequence[TrialRecord],
    runs: Mapping[str, Sequence[Any]],
    arms: Sequence[Mapping[str, Any]],
) -> str:
    """Returns the sections with figures; a section without data is left out."""
    latencies = [figures.latency_percentiles(kind, runs) for kind in ("read", "write", "scan")]
    return (
        sections.figure_section(
            "The search",
            "Every trial and the best so far, over the time spent measuring. Young stores are faster than "
            "old ones, so each trial is compared with the baseline at the same age, which was run once. A "
            "search favours lucky runs; therefore the proof measures again.",
            [figures.search_progress(outcome, trials)],
        )
        + fronts.section(outcome, trials)
        + sections.figure_section(
            "Dremel's arms",
            "Configurations with equal buckets of all features form one arm (bucket 1 is the lowest). Colour "
            "and number are the best result among the arm's configurations at the first age, at which all "
            "were measured. Empty cells were not run.",
            [figures.arms_map(arms, outcome)],
        )
        + learned.section(outcome)
        + sections.figure_section(
            "Throughput over a run",
            "Mean over the runs of the final proof. Look for a steady line as well as a high one: dips are "
            "times in which RocksDB delayed writes. Thin lines are other finalists, measured before "
            "the proof.",
            [figures.throughput_series(outcome, trials)],
        )
        + sections.figure_section(
            "Latency",
            "Median over the runs of the final proof; smaller is better. Percentiles hold only at the scale "
            "at which they were measured.",
            latencies,
        )
        + sections.figure_section(
            "Device traffic",
            "Bytes read and written per operation, by cause; the median over the runs of the final proof. "
            "Less compaction per operation leaves more of the device for the workload.",
            [figures.bytes_by_cause(runs)],
            short=True,
        )
    )
