"""Warm starts on recorded tables: each table left out in turn, with the others as earlier studies."""

import math
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path

import numpy as np

from benchmarks.common.claims import ROOT, Claim, Measured, Settings, decided, main, reported, write_csv
from rocktune.api.engines import make_engine
from rocktune.engine import Engine, RunFailed
from rocktune.errors import UserError
from rocktune.study import StudySpec, make_request, seeds_of
from rocktune.study import seeds as seeding
from rocktune.study.openings import Openings
from rocktune.study.specs.problem import problem_of
from rocktune.study.specs.resolving import resolve
from rocktune.study.warm_start import Earlier
from rocktune.table import read_table
from rocktune.trial import Configuration, Measurement, Result, Status, Trial
from rocktune.tuners import tuner_named
from rocktune.tuners.tried import tried_first

SOURCE = "rocktune, warm start"
TARGET_SHARE = 0.95
MAX_TIME_RATIO = 0.5
TABLES = ROOT / "docs" / "evidence" / "jia_chen" / "tables"


class Emulated:
    """A table as a system to tune. A model of the table answers for configurations that it lacks.

    Attributes:
        path: the table.
        spec: the study that tunes it.
        engine: the model.
        rows: the figures of each configuration, of its first run without a failure.
    """

    def __init__(self, path: Path, settings: Settings) -> None:
        """Reads the table and fits the model."""
        request = {
            "engine": "recorded",
            "table": str(path),
            "interpolate": True,
            "tuner": str(settings.extra["tuner"]),
            "objective": str(settings.extra["objective"]),
        }
        self.path = path
        short = resolve(make_request({**request, "budget": 3600.0}), path.stem)
        one_s = problem_of(short).age_s(problem_of(short).trial_age_s)
        self.spec = short.model_copy(update={"budget_s": one_s * int(settings.extra["runs"])})
        self.engine: Engine = make_engine(self.spec.engine, (str(settings.extra["objective"]),))
        self._openings = Openings(self.spec, problem_of(self.spec), self.spec.scale)
        self._table = read_table(path)
        self.rows: dict[Configuration, Mapping[str, float]] = {}
        for row in self._table.rows:
            if row.status is Status.OK:
                self.rows.setdefault(row.configuration, row.figures)

    def measured(self, trial: Trial) -> Result:
        """Returns the table's result of a trial, or else that of the model."""
        if (figures := self.rows.get(trial.configuration)) is not None:
            known = {name: value for name, value in figures.items() if not math.isnan(value)}
            window = {"from_s": 0.0, "until_s": trial.until_s, "figures": known}
            return Result(trial, Status.OK, Measurement(window))
        inputs = self._openings.engine_inputs(trial.configuration, trial.replicate)
        try:
            with closing(self.engine.open(*inputs)) as run:
                return Result(trial, Status.OK, run.advance(trial.until_s))
        except RunFailed as failure:
            return Result(trial, failure.status, None, failure.message)

    def earlier(self) -> Earlier:
        """Returns the table as an earlier study."""
        results = [self.measured(Trial(each, 1.0)) for each in self.rows]
        return Earlier(self.path.stem, self.spec, self._table.conditions.engine, results)


def warm_start(settings: Settings) -> list[Claim]:
    """Counts the runs until a search reaches 95% of the best known figure, cold and warm.

    `--tables` names a directory of tables (CSV) of one space, `--tuner` the tuner, `--searches` the number of
    seeds, `--runs` the runs of each search.
    """
    paths = sorted(Path(str(settings.extra["tables"])).glob("*.csv"))
    if len(paths) < 2:
        raise UserError(f"tables: {settings.extra['tables']} holds fewer than two tables (CSV)")
    searches = 3 if settings.quick else int(settings.extra["searches"])
    tables = [Emulated(path, settings) for path in (paths[:2] if settings.quick else paths)]
    earlier = [each.earlier() for each in tables]
    claims, rows = [], []
    for table, own in zip(tables, earlier, strict=True):
        field = problem_of(table.spec).objective.primary
        best = max(result.figure(field) for result in own.results)
        seeded = seeds_of(table.spec, own.engine, [each for each in earlier if each is not own])
        warm_spec = table.spec.model_copy(update={"tried": seeded})
        pairs = []
        for seed in range(settings.seed, settings.seed + searches):
            cold, warm = (_runs_until(table, each, seed, best) for each in (table.spec, warm_spec))
            pairs.append((cold, warm))
            rows.append({"table": own.name, "seed": seed, "cold": cold, "warm": warm, "seeds": len(seeded)})
        claims += _claims(table, own, pairs, len(seeded))
        settings.say(claims[-2].name + f" {claims[-2].measured.value:.2f}")
    if settings.out is not None:
        write_csv(settings.out / "searches.csv", rows)
    return claims


def _runs_until(table: Emulated, spec: StudySpec, seed: int, best: float) -> int:
    """Returns the number of runs until a search has measured 95% of the best; all of its runs if never."""
    tuner, problem = tuner_named(spec.tuner, spec.tuner_settings), problem_of(spec)
    rng = np.random.default_rng(seeding.seed_of(seed, "tuner"))
    search = tried_first(tuner, problem, rng)
    count = 0
    with suppress(StopIteration):
        item = next(search)
        while True:
            results = [table.measured(trial) for trial in (item() if callable(item) else item).trials]
            for result in results:
                count += 1
                if result.figure(problem.objective.primary) >= TARGET_SHARE * best:
                    return count
            item = search.send(results)
    return count


def _claims(table: Emulated, own: Earlier, pairs: Sequence[tuple[int, int]], seeded: int) -> list[Claim]:
    cold, warm = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    rng = np.random.default_rng(1)
    drawn = rng.integers(len(pairs), size=(2000, len(pairs)))
    ratios = np.median(warm[drawn], axis=1) / np.median(cold[drawn], axis=1)
    low, high = (float(each) for each in np.quantile(ratios, (0.025, 0.975)))
    ratio = Measured(float(np.median(warm) / np.median(cold)), low, high, len(pairs))
    later = warm - cold - seeded
    device = own.conditions.device.name
    return [
        decided(
            reported(f"time_ratio_{own.name}", SOURCE, "median runs, warm over cold", ratio,
                     engine=own.engine, device=device),
            high=MAX_TIME_RATIO,
        ),
        reported(
            f"later_{own.name}",
            SOURCE,
            f"runs by which a warm search is later than a cold one, less {seeded}: the worst seed",
            Measured(float(later.max()), float(np.median(later)), float(later.max()), len(pairs)),
            engine=table.engine.version,
            device=device,
        ),
    ]  # fmt: skip


if __name__ == "__main__":
    main(
        "rocktune.warm_start",
        warm_start,
        extra={
            "tables": str(TABLES),
            "tuner": "auto",
            "objective": "throughput_ops_s",
            "searches": 50,
            "runs": 60,
        },
    )
