"""The report of a study: what it found, the proof, the search, every trial, and how to do it again."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rocktune.ledger import StudyRecord, TrialRecord
from rocktune.outcome import Outcome
from rocktune.report import figures, fronts, learned, sections
from rocktune.report.arms import arm_results
from rocktune.report.document import document, write_document
from rocktune.report.findings import headline
from rocktune.report.memory import memory_section
from rocktune.report.own_options import own_options_section


def write_report(path: Path, study: StudyRecord, outcome: Outcome, trials: Sequence[TrialRecord]) -> None:
    """Writes the report of a study that has an outcome; see `render_report`. Replaces the file whole."""
    write_document(path, render_report(study, outcome, trials, arm_results(study, trials)))


def render_report(
    study: StudyRecord,
    outcome: Outcome,
    trials: Sequence[TrialRecord],
    arms: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Returns the report as HTML.

    Args:
        study: name, spec, host and time.
        outcome: what the study found.
        trials: every recorded trial, in order.
        arms: Dremel's arms, where that was the tuner (see `arms.arm_results`).
    """
    runs = figures.proof_runs(outcome, trials)
    body = (
        sections.result(study, outcome)
        + sections.recommendation(outcome)
        + sections.options(outcome)
        + sections.comparison(outcome, runs)
        + memory_section(outcome)
        + own_options_section(outcome)
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
    """Returns the sections that show a figure; a figure without data leaves its section out."""
    latencies = [figures.latency_percentiles(kind, runs) for kind in ("read", "write", "scan")]
    return (
        sections.figure_section(
            "The search",
            "Every trial and the best so far over the time spent measuring. Young stores are faster than old "
            "ones, so each trial is compared with the baseline at the same age, of which there is one run. "
            "Lucky runs are why the proof measures afresh.",
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
            "Mean over the runs of the final proof. A steady line is worth as much as a high one: dips are "
            "moments in which RocksDB slowed writes down. Thin lines are other finalists, measured before "
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
            "What the device did",
            "Bytes read and written per operation, by cause; the median over the runs of the final proof. "
            "Less compaction per operation leaves more of the device to the workload.",
            [figures.bytes_by_cause(runs)],
            short=True,
        )
    )
