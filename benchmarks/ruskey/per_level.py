"""Figure 9: each level's latency under Lerp's policies and under lazy leveling.

The workload is half lookups, and the filters are Monkey's. A controller first has `--missions` to settle.
Then `--measured` missions are measured, by default the paper's 25 million operations.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval, ratio_interval, reported
from benchmarks.common.figures import Panel, bars, write_figure
from benchmarks.common.flags import check_flags
from benchmarks.common.tables import append_rows, read_rows, typed
from benchmarks.flsm.shared import Where
from benchmarks.ruskey.driver import FLAGS, driver_of, setting_of
from benchmarks.ruskey.shared import LEARNED
from benchmarks.ruskey.static_workloads import LAZY_LEVELING
from rocktune.online import DrivenMission
from rocktune.online.control.prices import Prices

WORKLOAD = "ruskey-balanced"
DATA = "levels.csv"
SOURCE = "RusKey, figure 9"
Row = Mapping[str, Any]
"""Seed, controller, level (0 for all together), K, and microseconds of an operation: all, reads, merges."""


def per_level(settings: Settings) -> list[Claim]:
    """Drives Lerp and lazy leveling `--repeats` times; `--costs FILE` uses a modelled store.

    With `--out` each drive is appended to `levels.csv` and is not made again.
    """
    controllers = ("static:5", LAZY_LEVELING) if settings.quick else (LEARNED, LAZY_LEVELING)
    missions, measured, repeats = (
        (4, 4, 1)
        if settings.quick
        else (int(settings.extra[flag]) for flag in ("missions", "measured", "repeats"))
    )
    path = None if settings.out is None else settings.out / DATA
    check_flags(settings)
    rows: list[Row] = [*read_rows(path, typed(float, controller=str, seed=int, level=int, policy=int))]
    known = {(row["seed"], row["controller"]) for row in rows}
    with driver_of(settings, setting_of(settings, "monkey")) as driver:
        for seed in range(settings.seed, settings.seed + repeats):
            for controller in controllers:
                if (seed, controller) in known:
                    continue
                done = driver.drive(controller, [(WORKLOAD, missions + measured)], seed)
                own = list(_levels(seed, controller, done[-measured:]))
                settings.say(f"seed {seed}, {controller}: {own[0]['all_us']} us an operation")
                rows += own
                append_rows(path, own)
        where = driver.where
    _write_figure(settings, rows, controllers)
    return _claims(rows, controllers, where)


def _levels(seed: int, controller: str, missions: Sequence[DrivenMission]) -> list[Row]:
    """Returns the store's latency, then that of each level, from the measured missions of a drive."""
    seen = [mission.statistics for mission in missions if mission.statistics is not None]
    prices = Prices.of(seen)
    rows = [_row(seed, controller, 0, 0, float(np.mean([mission.latency_s for mission in seen])), 0.0, 0.0)]
    for place, last in enumerate(seen[-1].levels):
        # A level that came during the missions has cost nothing before.
        pairs = [(mission, mission.levels[place]) for mission in seen if place < len(mission.levels)]
        reads_s = sum(prices.reads_s(mission, level) for mission, level in pairs) / len(seen)
        merges_s = sum(prices.merges_s(mission, level) for mission, level in pairs) / len(seen)
        rows.append(_row(seed, controller, place + 1, last.policy, reads_s + merges_s, reads_s, merges_s))
    return rows


def _row(
    seed: int, controller: str, level: int, policy: int, all_s: float, reads_s: float, merges_s: float
) -> Row:
    times = {"all_us": all_s, "reads_us": reads_s, "merges_us": merges_s}
    rounded = {name: round(seconds * 1e6, 4) for name, seconds in times.items()}
    return {"seed": seed, "controller": controller, "level": level, "policy": policy, **rounded}


def _of(rows: Sequence[Row], controller: str, level: int, figure: str = "all_us") -> list[float]:
    """Returns a figure of one level by seed; 0 for a store without the level."""
    own = [row for row in rows if row["controller"] == controller]
    seeds = sorted({row["seed"] for row in own})
    found = {row["seed"]: row[figure] for row in own if row["level"] == level}
    return [found.get(seed, 0.0) for seed in seeds]


def _claims(rows: Sequence[Row], controllers: Sequence[str], where: Where) -> list[Claim]:
    own, other = controllers
    conditions = {"engine": where.engine, "device": where.device}
    ratios = [theirs / mine for mine, theirs in zip(_of(rows, own, 0), _of(rows, other, 0), strict=True)]
    whole = reported(
        f"{other}_over_{own}", SOURCE, "ratio of latency, all levels", ratio_interval(ratios), **conditions
    )
    levels = range(1, max(row["level"] for row in rows) + 1)
    return [
        decided(whole, low=1.0),
        *(
            reported(
                f"level_{level}_{controller}",
                SOURCE,
                "us an operation that clients wait for the level's reads and merges",
                mean_interval(_of(rows, controller, level)),
                **conditions,
            )
            for level in levels
            for controller in controllers
        ),
    ]


def _write_figure(settings: Settings, rows: Sequence[Row], controllers: Sequence[str]) -> None:
    levels = range(1, max(row["level"] for row in rows) + 1)
    panels = [
        Panel(
            title,
            "level",
            "us an operation",
            [
                bars(
                    controller,
                    [str(level) for level in levels],
                    [float(np.mean(_of(rows, controller, level, figure))) for level in levels],
                )
                for controller in controllers
            ],
        )
        for title, figure in (("Reads and merges", "all_us"), ("Reads", "reads_us"), ("Merges", "merges_us"))
    ]
    write_figure(settings, "Latency by level", panels)


if __name__ == "__main__":
    main(
        "ruskey.per_level",
        per_level,
        scale=128,
        quick_scale=2048,
        extra=FLAGS | {"missions": 600, "measured": 500, "repeats": 3},
    )
