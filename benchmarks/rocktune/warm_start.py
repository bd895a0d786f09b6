"""Warm starts on recorded tables: each table left out in turn, with the others as earlier studies."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.common.claims import ROOT, Claim, Measured, Settings, decided, main, reported
from benchmarks.common.emulated import Emulated
from benchmarks.common.flags import check_flags
from benchmarks.common.searching import measured_search, tuner_of
from benchmarks.common.tables import read_rows, typed, write_csv
from rocktune.errors import UserError
from rocktune.study import seeds_of
from rocktune.study.specs.tried import Tried
from rocktune.study.warm_start import Earlier

SOURCE = "rocktune, warm start"
TARGET_SHARE = 0.95
MAX_TIME_RATIO = 0.5
TABLES = ROOT / "docs" / "evidence" / "jia_chen" / "tables"


def warm_start(settings: Settings) -> list[Claim]:
    """Counts the runs until a search reaches 95% of the best known figure, cold and warm.

    `--tables` names a directory of tables (CSV) of one space, `--tuner` the tuner, `--searches` the number of
    seeds, `--runs` the runs of each search. With `--out` an interrupted comparison goes on after the last
    searches that are recorded there.
    """
    paths = sorted(Path(str(settings.extra["tables"])).glob("*.csv"))
    if len(paths) < 2:
        raise UserError(f"tables: {settings.extra['tables']} holds fewer than two tables (CSV)")
    searches = 3 if settings.quick else int(settings.extra["searches"])
    request = {name: str(settings.extra[name]) for name in ("tuner", "objective")}
    runs = int(settings.extra["runs"])
    tables = [Emulated(path, runs, **request) for path in (paths[:2] if settings.quick else paths)]
    earlier = [each.earlier() for each in tables]
    claims: list[Claim] = []
    check_flags(settings, frozenset({"searches"}))
    kept = None if settings.out is None else settings.out / "searches.csv"
    rows = read_rows(kept, typed(int, table=str))
    for table, own in zip(tables, earlier, strict=True):
        field = table.problem.objective.primary
        best = max(result.figure(field) for result in own.results)
        seeded = seeds_of(table.spec, own.engine, [each for each in earlier if each is not own])
        pairs = []
        for seed in range(settings.seed, settings.seed + searches):
            key = {"table": own.name, "seed": seed, "seeds": len(seeded)}
            row = next((row for row in rows if key.items() <= row.items()), None)
            if row is None:
                cold, warm = (_runs_until(table, tried, seed, best) for tried in ((), seeded))
                row = {**key, "cold": cold, "warm": warm}
                rows.append(row)
                if kept is not None:
                    write_csv(kept, rows)
            pairs.append((row["cold"], row["warm"]))
            settings.say(f"{own.name}, seed {seed}: {pairs[-1][0]} runs cold, {pairs[-1][1]} warm")
        claims += _claims(table, own, pairs, len(seeded))
    return claims


def _runs_until(table: Emulated, tried: Sequence[Tried], seed: int, best: float) -> int:
    """Returns the number of runs until a search has measured 95% of the best; all of its runs if never."""
    spec, problem = table.study(tried=tried, seed=seed)
    count = 0
    for count, (result, _) in enumerate(measured_search(problem, *tuner_of(spec), table.measure), 1):
        if result.figure(problem.objective.primary) >= TARGET_SHARE * best:
            return count
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
        decided(
            reported(
                f"later_{own.name}",
                SOURCE,
                f"runs by which a warm search is later than a cold one, less {seeded}: the worst seed",
                Measured(float(later.max()), float(np.median(later)), float(later.max()), len(pairs)),
                engine=table.engine.version,
                device=device,
            ),
            high=0.0,
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
