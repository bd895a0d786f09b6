"""Figure 3 of Alabed and Yoneki: random configurations, a GP's predictions of them, clusters of knobs.

It also judges whether the set-up can tell tuners apart: several knobs must matter, and each task must
have values. With 500 runs a share of 90% is known to 3%, and an importance of 0.05 to about 0.02. An
interrupted run continues with the same `--out` or `--ledger`.
"""

import math
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import KFold, cross_val_predict

from benchmarks.common.claims import Claim, Measured, Settings, decided, exactly, main, reported
from benchmarks.common.figures import Panel, write_figure
from benchmarks.common.measuring import processors_awake
from rocktune import api
from rocktune.analysis import importance_of
from rocktune.ledger import TrialRecord, open_ledger
from rocktune.space import Space, load_space
from rocktune.study import kept_trials
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.table import Table, TableRow, read_table
from rocktune.trial import Status
from rocktune.tuners.bayesian.clusters import PAPERS_TASKS
from rocktune.tuners.unit_cube import UnitCube
from rocktune.units import format_scale

WORKLOAD, SPACE = "alabed-text", "alabed"
THROUGHPUT = "throughput_ops_s"
SOURCE = "Alabed and Yoneki, figure 3"
MEASURED_S = 120
"""At full size, as a step of the search in alabed_tuners."""
FOLDS = 5
MATTERS = 0.05
"""Share of the variance of throughput's logarithm (functional ANOVA) from which a knob matters."""
EXPLAINED = 0.8
"""Share of that variance, of the part that single knobs explain, for which knobs are counted."""
MIN_KNOBS, MIN_COVERAGE = 3, 0.9
HELD_OUT = ("alabed-listing", "ycsb-a", "ycsb-b", "ycsb-updates")
"""Workloads on which no model was developed; only final comparisons run on them."""
SHARE = "share of configurations"
_KNOBS = "knobs_that_"
"""Begins the names of the claims that count knobs."""


def space(settings: Settings) -> list[Claim]:
    """Measures random configurations (`--samples`) and finds clusters of knobs."""
    samples = 8 if settings.quick else int(settings.extra["samples"])
    with tempfile.TemporaryDirectory() as scratch, processors_awake():
        ledger = str(settings.extra["ledger"]) or str((settings.out or Path(scratch)) / "ledger.sqlite")
        out = settings.out or Path(scratch)
        workload = str(settings.extra["workload"])
        study = f"alabed-space-{workload}"
        summary = api.sweep(
            how=HowToSweep(samples, "1/1", f"{settings.extra['seconds'] / settings.scale}s", "0"),
            workload=workload,
            space=SPACE,
            device=str(settings.extra["device"]),
            scale=format_scale(settings.scale),
            seed=settings.seed,
            study=study,
            ledger=ledger,
            out=out / "sweep",
        )
        api.write_recorded([study], out / "table.csv", ledger=ledger)
        if not settings.quick:
            api.clusters(study, out=out / "clusters.toml", ledger=ledger)
        with open_ledger(ledger) as opened:
            records = kept_trials(opened, opened.study(study))
        table = read_table(out / "table.csv")
    space = load_space(SPACE, table.conditions.memory_bytes, 5e7)
    claims = _claims(space, records, summary["noise"][THROUGHPUT], settings)
    if not settings.quick:
        claims += judged(table, settings.seed)
    for claim in claims:
        claim.engine, claim.device = summary["engine"], str(settings.extra["device"])
    return claims


def _claims(
    space: Space, records: Sequence[TrialRecord], noise: float | None, settings: Settings
) -> list[Claim]:
    default = space.default()
    # The trial at the maximum age of each.
    last = {record.trial.configuration: record for record in records}
    drawn = [record for configuration, record in last.items() if configuration != default]
    sound = [record for record in drawn if record.measurement is not None]
    control = [
        _throughput(record)
        for record in records
        if record.trial.configuration == default and record.measurement is not None
    ]
    ratios = np.array([_throughput(record) for record in sound]) / float(np.mean(control))
    _draw(ratios, settings)
    low, middle, high = np.quantile(ratios, (0.05, 0.5, 0.95))
    stores = Counter(repr(sorted(record.options.items())) for record in sound)
    return [
        _reported("random_over_default", "ratio of throughput; median, 5% and 95%", middle, low, high, sound),
        _reported("best_random_over_default", "ratio of throughput", ratios.max(), None, None, sound),
        *(
            [_reported("noise_of_throughput", "coefficient of variation", noise, None, None, records)]
            if noise is not None
            else []
        ),
        _reported("share_that_fails", SHARE, 1 - len(sound) / len(drawn), None, None, drawn),
        _reported("share_with_a_twin", SHARE, _shared(stores), None, None, sound),
        _reported(
            "gp_cross_validated_r2",
            f"R² of a Gaussian process on the logarithm of throughput, {FOLDS}-fold",
            _cross_validated_r2(space, sound, settings.seed),
            None,
            None,
            sound,
        ),
    ]


def judged(table: Table, seed: int) -> list[Claim]:
    """Returns targets of a set-up: knobs that matter, and random runs in which each task has a value.

    Importance is that for the logarithm of throughput, which the tuners' models have. A few fast runs make up
    most of the variance of throughput itself. Numbers of knobs have as interval those found without each
    fifth of the runs in turn.
    """
    drawn = [row for row in table.rows if row.replicate == 0 and row.status is Status.OK]
    shares = importances(table, drawn, seed)
    parts = [
        importances(table, [row for place, row in enumerate(drawn) if place % FOLDS != part], seed)
        for part in range(FOLDS)
    ]

    def made(name: str, unit: str, measured: Measured) -> Claim:
        return reported(name, SOURCE, unit, measured, engine="", device="")

    def counted(name: str, unit: str, count: Callable[[Mapping[str, float]], int]) -> Claim:
        counts = [count(each) for each in parts]
        measured = Measured(count(shares), min(counts), max(counts), len(drawn))
        return decided(made(name, unit, measured), low=MIN_KNOBS)

    unit = "knobs; the interval is that without each fifth of the runs"
    claims = [
        counted(f"{_KNOBS}explain_{EXPLAINED:.0%}".replace("%", "_percent"), unit, knobs_for_most),
        counted(f"{_KNOBS}matter", f"{unit}; at least {MATTERS:.0%} of the variance each", _mattering),
    ]
    for task in PAPERS_TASKS:
        covered = [bool(np.isfinite(row.figures[task])) for row in drawn]
        claim = made(f"coverage_of_{task}", "share of random runs", _proportion(covered))
        claims.append(decided(claim, low=MIN_COVERAGE))
    stalled = _proportion([row.figures["stalled_share"] > 0 for row in drawn])
    claims.append(made("runs_that_stall", "share of random runs", stalled))
    unit = "share of the variance of throughput's logarithm"
    claims += [
        made(f"importance_of_{knob}", unit, exactly(share, len(drawn))) for knob, share in shares.items()
    ]
    return claims


def several_knobs_matter(judgement: Sequence[Claim]) -> bool:
    """Returns whether a set-up of these `judged` claims has enough knobs that matter to tell tuners apart."""
    return all(claim.holds is True for claim in judgement if claim.name.startswith(_KNOBS))


def importances(table: Table, rows: Sequence[TableRow], seed: int) -> dict[str, float]:
    """Returns each knob's share of the variance of throughput's logarithm; the shares add up to 1."""
    logged = [
        replace(row, figures={**row.figures, THROUGHPUT: math.log(row.figures[THROUGHPUT])}) for row in rows
    ]
    found = importance_of(replace(table, rows=tuple(logged)), (THROUGHPUT,), seed)[THROUGHPUT]
    return {each["knob"]: float(each["fanova"]) for each in found}


def knobs_for_most(shares: Mapping[str, float]) -> int:
    """Returns how many knobs, the most important first, it takes to have 80% of the variance."""
    total, count = 0.0, 0
    for share in sorted(shares.values(), reverse=True):
        if total >= EXPLAINED:
            break
        total, count = total + share, count + 1
    return count


def _mattering(shares: Mapping[str, float]) -> int:
    return sum(share >= MATTERS for share in shares.values())


def _proportion(outcomes: Sequence[bool]) -> Measured:
    """Returns the share of true outcomes with Wilson's 95% interval."""
    count = sum(outcomes)
    interval = stats.binomtest(count, len(outcomes)).proportion_ci(method="wilson")
    return Measured(count / len(outcomes), float(interval.low), float(interval.high), len(outcomes))


def _throughput(record: TrialRecord) -> float:
    assert record.measurement is not None
    return record.measurement.figures[THROUGHPUT]


def _reported(
    name: str, unit: str, value: float, low: float | None, high: float | None, of: Sequence[TrialRecord]
) -> Claim:
    measured = Measured(
        float(value), float(value if low is None else low), float(value if high is None else high), len(of)
    )
    return reported(name, SOURCE, unit, measured, engine="", device="")


def _shared(stores: Counter[str]) -> float:
    """Returns the share of configurations whose store equals that of another configuration."""
    return sum(count for count in stores.values() if count > 1) / stores.total()


def _cross_validated_r2(space: Space, sound: list[TrialRecord], seed: int) -> float:
    """Returns the cross-validated R² of a GP on runs it was not fitted to; 1 is perfect."""
    cube = UnitCube(space)
    points = np.array([cube.point(record.trial.configuration) for record in sound])
    values = np.array([math.log(_throughput(record)) for record in sound])
    kernel = ConstantKernel() * Matern(np.ones(points.shape[1]), nu=2.5) + WhiteKernel()
    model = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    folds = KFold(min(FOLDS, len(values)), shuffle=True, random_state=seed)
    predicted = cross_val_predict(model, points, values, cv=folds)
    return float(1 - np.sum((values - predicted) ** 2) / np.sum((values - values.mean()) ** 2))


def _draw(ratios: np.ndarray, settings: Settings) -> None:
    trace = {"type": "histogram", "x": ratios.tolist(), "nbinsx": 40, "name": "random configurations"}
    panel = Panel("Figure 3", "throughput over the default's", "configurations", [trace])
    title = f"{settings.extra['workload']} at {format_scale(settings.scale)}"
    write_figure(settings, title, [panel])


if __name__ == "__main__":
    main(
        "alabed.space",
        space,
        scale=256,
        extra={
            "samples": 500,
            "device": "ssd-100mb",
            "workload": WORKLOAD,
            "seconds": MEASURED_S,
            "ledger": "",
        },
    )
