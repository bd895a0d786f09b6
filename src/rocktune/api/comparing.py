"""Compares tuners: equal budgets, paired seeds, verified results, and one report."""

import hashlib
import re
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from rocktune.analysis import compared_runs, findings_of
from rocktune.api.engines import opened_engine
from rocktune.api.executors import opened_executor
from rocktune.api.files import REPORT_NAME, claim_output
from rocktune.api.requests import Given, new_name, resolved_study
from rocktune.errors import UserError
from rocktune.ledger import Ledger, StudyRecord, open_ledger
from rocktune.report import render_comparison, write_document
from rocktune.spec_file import read_toml
from rocktune.study import Executor, Observer, StudySpec
from rocktune.study.comparison import ComparedStudy, ComparisonSpec, comparison_s, run_comparison
from rocktune.study.specs.problem import objective_of
from rocktune.study.specs.spec import current_names
from rocktune.tuners.choice import parse_choice

DEFAULT_SEEDS = 5
_MAX_NAME = 100
_DIGEST = 10
_MAX_STUDIES = 10_000
VERIFICATION = {"ablation_pairs": 0, "prune_attempts": 0, "pairs": 6}
"""Verification of each study by default. Ablation explains one winner but says nothing about its tuner."""


@dataclass(frozen=True)
class PreparedComparison:
    """A checked comparison that has not measured or written anything yet.

    Attributes:
        spec: the comparison.
        ledger: URL or SQLite file; None for the user's own.
        out: directory of the report; None for one with the comparison's name.
    """

    spec: ComparisonSpec
    ledger: str | None = None
    out: str | Path | None = None

    def estimate(self) -> dict[str, Any]:
        """Returns the estimated size and time; see `rocktune.api.estimate_comparison`."""
        return {
            "study": self.spec.name,
            "studies": len(self.spec.studies),
            "budget_s": self.spec.studies[0].study.budget_s,
            "total_s": comparison_s(self.spec),
        }

    def run(
        self,
        *,
        executor: str | None = None,
        address: str | None = None,
        observer: Observer | None = None,
    ) -> dict[str, Any]:
        """Runs or continues the comparison and writes its report; see `rocktune.api.compare`."""
        with open_ledger(self.ledger) as ledger:
            return run_recorded_comparison(self.spec, ledger, executor, address, observer, self.out)


def prepare_comparison(
    tuners: Sequence[str], settings: Sequence[str], seeds: int = DEFAULT_SEEDS, **given: Unpack[Given]
) -> PreparedComparison:
    """Returns a checked comparison.

    Args:
        tuners: see `compare`.
        settings: see `compare`.
        seeds: see `compare`.
        **given: see `compare`.

    Raises:
        UserError: a part of the request is invalid.
    """
    spec = _resolved(tuners, settings, seeds, given)
    return PreparedComparison(spec, given.get("ledger"), given.get("out"))


def estimate_comparison(
    tuners: Sequence[str], settings: Sequence[str], seeds: int = DEFAULT_SEEDS, **given: Unpack[Given]
) -> dict[str, Any]:
    """Returns the estimated size and time of a comparison, without measuring or writing anything.

    Args:
        tuners: see `compare`.
        settings: see `compare`.
        seeds: see `compare`.
        **given: see `compare`.

    Returns:
        `study` (the name), `studies` (their number), `budget_s` of each, and `total_s`.

    Raises:
        UserError: a part of the request is invalid.
    """
    return prepare_comparison(tuners, settings, seeds, **given).estimate()


def compare(
    tuners: Sequence[str],
    settings: Sequence[str],
    seeds: int = DEFAULT_SEEDS,
    *,
    executor: str | None = None,
    address: str | None = None,
    observer: Observer | None = None,
    **given: Unpack[Given],
) -> dict[str, Any]:
    """Runs each tuner on each setting with each seed as a study, and compares the results.

    An existing comparison with this name and equal settings is continued.

    Args:
        tuners: names of tuners; settings that differ from the defaults follow in parentheses:
            "nsga2(population=20)".
        settings: what to search on: a study's TOML file, a table (.csv or .parquet), or the name of a
            workload.
        seeds: number of seeds, counted up from `seed`, which is 1 by default.
        executor: see `rocktune.api.tune`.
        address: see `rocktune.api.tune`.
        observer: observer of phases, trials and progress.
        **given: fields of `rocktune.study.StudyRequest` for all studies; `budget` is that of each study.

    Returns:
        The findings of `rocktune.analysis.findings_of`, with `study`, `state`, `objective`, `constraints` and
        `report`.

    Raises:
        UserError: a part of the request is invalid, or this machine lacks something that is needed.
        StudyInterrupted: Ctrl-C was pressed; `resume` continues.
    """
    prepared = prepare_comparison(tuners, settings, seeds, **given)
    return prepared.run(executor=executor, address=address, observer=observer)


def run_recorded_comparison(
    spec: ComparisonSpec,
    ledger: Ledger,
    executor: str | None,
    address: str | None,
    observer: Observer | None,
    out: str | Path | None = None,
) -> dict[str, Any]:
    """Runs or continues a comparison and writes its report; see `compare`."""
    watching = observer or Observer()

    def executor_of(study: StudySpec) -> AbstractContextManager[Executor]:
        figures = objective_of(study, study.scale).measured_fields
        return opened_executor(study, figures, executor, address, opened_engine, watching)

    # The comparison has a record of its own, so that it can be resumed, listed and locked by its name.
    record = ledger.create_study(spec.name, spec.model_dump(mode="json"))
    directory = claim_output(ledger, record, out)
    run_comparison(spec, executor_of, ledger, watching)
    return report_comparison(spec, ledger, ledger.study(spec.name), directory)


def report_comparison(
    spec: ComparisonSpec, ledger: Ledger, record: StudyRecord, directory: Path
) -> dict[str, Any]:
    """Writes the report of a comparison's finished studies, and returns its findings; see `compare`.

    Raises:
        UserError: the report cannot be written.
    """
    runs = compared_runs(spec, ledger)
    found = findings_of(runs)
    shared = spec.studies[0].study
    objective = objective_of(shared, shared.scale)
    path = directory / REPORT_NAME
    try:
        write_document(path, render_comparison(spec.name, objective, runs, found))
    except OSError as failure:
        raise UserError(f"{path}: cannot be written: {failure.strerror}") from None
    return {
        "study": spec.name,
        "state": record.state,
        "objective": objective.name,
        "constraints": list(shared.constraints),
        "default_constraints": list(shared.default_constraints),
        **found,
        "report": path,
    }


def _resolved(tuners: Sequence[str], settings: Sequence[str], seeds: int, given: Given) -> ComparisonSpec:
    """Returns the comparison's spec, with one study per tuner, setting and seed.

    Raises:
        UserError: a part of the request is invalid.
    """
    for name, values in (("tuners", tuners), ("settings", settings)):
        if not values:
            raise UserError(f"{name}: missing; name at least one")
        if len(set(values)) < len(values):
            raise UserError(f"{name}: one is named twice; name each once")
    if seeds < 1:
        raise UserError(f"seeds: {seeds} must be at least 1")
    if (count := len(tuners) * len(settings) * seeds) > _MAX_STUDIES:
        raise UserError(f"seeds: they make {count:,} studies; give fewer, for at most {_MAX_STUDIES:,}")
    _refuse_equal_labels(settings)
    seed = given.get("seed")
    first = 1 if seed is None else seed
    name = given.get("study") or new_name("comparison")
    studies = [
        _study(name, setting, tuner, seed, given)
        for setting in settings
        for seed in range(first, first + seeds)
        for tuner in _rotated(tuners, seed)
    ]
    # Study files may each set an objective, but ranks only make sense for one.
    objectives = {(str(each.study.objective), each.study.constraints) for each in studies}
    if len(objectives) > 1:
        raise UserError("settings: their objectives differ; name one objective with --objective")
    return ComparisonSpec(name=name, studies=tuple(studies))


def _refuse_equal_labels(settings: Sequence[str]) -> None:
    """Raises UserError if two settings would have the same name in the report."""
    labels: dict[str, str] = {}
    for setting in settings:
        other = labels.setdefault(_label(setting), setting)
        if other != setting:
            raise UserError(
                f"settings: '{other}' and '{setting}' would both be called '{_label(setting)}' in the "
                "report; rename one of the files"
            )


def _rotated(tuners: Sequence[str], seed: int) -> list[str]:
    """Returns the tuners rotated by the seed.

    So each tuner is first, in the middle and last in turn, and a slow drift of the machine favours none.
    """
    start = seed % len(tuners)
    return [*tuners[start:], *tuners[:start]]


def _study(comparison: str, setting: str, choice: str, seed: int, given: Given) -> ComparedStudy:
    """Returns one study of a comparison.

    Raises:
        UserError: a part of the request is invalid.
    """
    tuner, tuner_settings = parse_choice(choice)
    label = _label(setting)
    asked: Given = {
        **given,
        "tuner": tuner,
        "tuner_settings": tuner_settings,
        "seed": seed,
        "study": _slug(f"{comparison}-{label}-{choice}-{seed}"),
    }
    file: Path | None = None
    if setting.endswith((".csv", ".parquet")):
        # A table is replayed; it brings its own workload and device.
        asked |= {"engine": "recorded", "table": setting}
    elif setting.endswith(".toml"):
        file = Path(setting)
    else:
        asked["workload"] = setting
    document = read_toml(file) if file else {}
    if "protocol" not in document and given.get("protocol") is None:
        # Comparisons are about searches, whose figures both protocols give; ageing stores takes far longer.
        asked["protocol"] = "short"
    said = document.get("verification", {})
    # Anything other than a TOML table is refused later, with the rest of the file.
    if isinstance(said, dict):
        own = given.get("verification") or {}
        asked["verification"] = VERIFICATION | current_names(said) | current_names(own)
    spec, _ = resolved_study(file, asked)
    return ComparedStudy(setting=label, tuner=choice, study=spec)


def _label(setting: str) -> str:
    """Returns a setting's name: a file's without its folders, so that study names and headings stay short."""
    return Path(setting).stem


def _slug(text: str) -> str:
    """Returns text as part of a study's name: letters, digits, dots and hyphens, at most 100 characters.

    The end of a longer text, which tells studies of a comparison apart, becomes a digest of the whole.
    """
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.")
    if len(slug) <= _MAX_NAME:
        return slug
    digest = hashlib.sha256(text.encode()).hexdigest()[:_DIGEST]
    return f"{slug[: _MAX_NAME - _DIGEST - 1]}-{digest}"
