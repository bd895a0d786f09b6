"""The report: one HTML page that holds everything it needs and reaches for nothing else.

Figures are data for the inlined Plotly library. The page's content security policy lets only the two scripts
run that are known by their digest, and forbids every request.
"""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from plotly.offline import get_plotlyjs

from rocktune.ledger import StudyRecord, TrialRecord
from rocktune.report import figures, fronts, sections
from rocktune.report.arms import arm_results
from rocktune.report.findings import headline


def write_report(
    path: Path, study: StudyRecord, outcome: Mapping[str, Any], trials: Sequence[TrialRecord]
) -> None:
    """Writes the report of a study that has an outcome; see `render_report`. Replaces the file whole."""
    page = render_report(study, outcome, trials, arm_results(study, trials))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(path.name + ".part")
    unfinished.write_text(page, encoding="utf-8")
    unfinished.replace(path)


def render_report(
    study: StudyRecord,
    outcome: Mapping[str, Any],
    trials: Sequence[TrialRecord],
    arms: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Returns the report as HTML.

    Args:
        study: name, spec, host and time.
        outcome: what the study found (`Outcome.to_json()`).
        trials: every recorded trial, in order.
        arms: Dremel's arms, where that was the tuner (see `arms.arm_results`).
    """
    runs = figures.proof_runs(outcome, trials)
    body = (
        sections.result(study, outcome)
        + sections.recommendation(outcome)
        + sections.options(outcome)
        + sections.comparison(outcome, runs)
        + _figures(outcome, trials, runs, arms)
        + sections.trials(outcome, trials)
        + sections.reproduction(study, outcome)
    )
    return _document(f"{headline(outcome)} · {study.name}", body)


def _figures(
    outcome: Mapping[str, Any],
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


@cache
def _resource(name: str) -> str:
    return (files("rocktune.report") / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


def _document(title: str, body: str) -> str:
    scripts = [get_plotlyjs(), _resource("theme.js")] if "data-figure=" in body else []
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"script-src {' '.join(map(_digest, scripts)) or chr(39) + 'none' + chr(39)}"
    )
    inlined = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_resource('style.css')}</style>\n</head>\n"
        f"<body>\n<main>\n{body}</main>\n{inlined}</body>\n</html>\n"
    )
