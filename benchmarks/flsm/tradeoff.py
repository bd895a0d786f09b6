"""RusKey's figures 6 and 8 after convergence, with RocksDB's own styles: the best shape for each mix.

Each run has one device and one kind of filters; `--absent yes` looks up absent keys.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.claims import Claim, Settings, main, ratio_interval, reported
from benchmarks.common.figures import Panel, lines, write_figure
from benchmarks.common.measuring import Teller, embedded_engine, processors_awake
from benchmarks.common.tables import read_rows, typed, write_csv
from benchmarks.flsm.shared import ENTRY_BYTES, RUSKEY, SIZE_RATIO, Where, buffer_at, decided_at
from rocktune import api
from rocktune.errors import UserError
from rocktune.space import OptionMaps
from rocktune.units import format_scale
from rocktune.workload.ruskey import ENTRIES

SOURCE = "RusKey, figures 6 and 8"
POLICIES = ("1", "2", "3", "5", "7", "10")
PRESETS = ("lazy-leveling",)
STOCK = ("leveled", "universal")
LOOKUPS = (0.1, 0.5, 0.9, 0.99)
WARM_S, MEASURED_S = 2560.0, 5120.0
"""At full size: a store of which most operations write fills its third level several times."""
PAPER_BEST = {0.1: "10", 0.5: "5", 0.9: "1"}


def tradeoff(settings: Settings) -> list[Claim]:
    """Measures every shape with every mix; `--device`, `--filters`, `--bits` and `--absent` say where.

    `--disk-levels` has a write buffer with which the data fill so many levels; by default it is the paper's.
    `--further` are the points.csv of runs with other seeds, with commas between, whose turns count too; with
    `--repeats 0` they alone do.
    """
    device = str(settings.extra["device"])
    points = _further(settings)
    if settings.quick or settings.extra["repeats"]:
        points = _measured(settings, device) + points
    with embedded_engine() as engine:
        where = Where(engine.version, device)
    if settings.out is not None:
        write_csv(settings.out / "points.csv", points)
        write_figure(settings, f"Which shape serves which mix, on {device}", _panels(points))
    claims = []
    for lookups in sorted({point["lookups"] for point in points}):
        runs = _throughputs(points, lookups)
        claims += [_best_policy(runs, lookups, where), _against_stock(runs, lookups, where)]
    claims.append(_crossing(points, where))
    return claims if settings.quick else [*claims, _between(points, where)]


def _measured(settings: Settings, device: str) -> list[dict[str, Any]]:
    shapes = ("1", "10", "leveled") if settings.quick else (*POLICIES, *PRESETS, *STOCK)
    with processors_awake():
        found = api.map_flsm(
            device=device,
            scale=format_scale(settings.scale),
            shapes=shapes,
            lookups=(0.5,) if settings.quick else LOOKUPS,
            absent=settings.extra["absent"] == "yes",
            filters=(str(settings.extra["filters"]),),
            bits_per_key=(float(settings.extra["bits"]),),
            warm=320.0 if settings.quick else WARM_S,
            measure=640.0 if settings.quick else MEASURED_S,
            repeats=1 if settings.quick else int(settings.extra["repeats"]),
            options=_given(RUSKEY) | _given(_buffer(settings)),
            seed=settings.seed,
            observer=Teller(settings, device),
        )
    points: list[dict[str, Any]] = found["points"]
    return points


def _further(settings: Settings) -> list[dict[str, Any]]:
    """Returns the points that other runs measured, numbered after this run's turns."""
    turns = int(settings.extra["repeats"])
    points: list[dict[str, Any]] = []
    for path in filter(None, str(settings.extra["further"]).split(",")):
        kinds = typed(float, shape=str, filters=str, turn=int)
        rows = read_rows(Path(path), kinds, advice="name the points.csv of a run")
        if not rows:
            raise UserError(f"--further: {path} has no points; name the points.csv of a run")
        points += [row | {"turn": turns + row["turn"]} for row in rows]
        turns += 1 + max(row["turn"] for row in rows)
    return points


def _buffer(settings: Settings) -> OptionMaps:
    levels = int(settings.extra["disk_levels"])
    least = buffer_at(settings.scale)
    if levels == 0:
        return least
    filling_bytes = ENTRIES * ENTRY_BYTES // SIZE_RATIO**levels
    return {"cf": {"write_buffer_size": str(max(filling_bytes, int(least["cf"]["write_buffer_size"])))}}


def _given(options: OptionMaps) -> dict[str, str]:
    return {name: value for section in options.values() for name, value in section.items()}


def _throughputs(points: Sequence[Mapping[str, Any]], lookups: float) -> dict[str, list[float]]:
    """Returns each shape's throughput in every turn, under one mix."""
    found: dict[str, list[float]] = {}
    for point in points:
        if point["lookups"] == lookups:
            found.setdefault(point["shape"], []).append(point["throughput_ops_s"])
    return found


def _best(runs: Mapping[str, Sequence[float]], shapes: Sequence[str]) -> str:
    return max((shape for shape in shapes if shape in runs), key=lambda shape: float(np.mean(runs[shape])))


def _best_policy(runs: Mapping[str, Sequence[float]], lookups: float, where: Where) -> Claim:
    best = _best(runs, POLICIES)
    others = [float(np.mean(runs[policy])) for policy in POLICIES if policy in runs]
    gain = ratio_interval([value / min(others) for value in runs[best]])
    return reported(
        f"best_policy_at_{lookups:.0%}_lookups",
        SOURCE,
        f"K = {best} is the best of all levels' K; its throughput over the worst one's",
        gain,
        PAPER_BEST.get(lookups),
        engine=where.engine,
        device=where.device,
    )


def _against_stock(runs: Mapping[str, Sequence[float]], lookups: float, where: Where) -> Claim:
    own, stock = _best(runs, (*POLICIES, *PRESETS)), _best(runs, STOCK)
    ratio = ratio_interval([mine / theirs for mine, theirs in zip(runs[own], runs[stock], strict=True)])
    unit = f"ratio of throughput, {own} over {stock}, neither tuned further"
    return reported(
        f"flsm_over_stock_at_{lookups:.0%}_lookups",
        "the map",
        unit,
        ratio,
        engine=where.engine,
        device=where.device,
    )


def _crossing(points: Sequence[Mapping[str, Any]], where: Where) -> Claim:
    """Returns how much the best policy for writes loses to the best for reads when most operations read."""
    read, written = (
        _throughputs(points, max(point["lookups"] for point in points)),
        _throughputs(points, min(point["lookups"] for point in points)),
    )
    ratios = [
        min(aggressive / lazy, lazy_writes / aggressive_writes)
        for aggressive, lazy, aggressive_writes, lazy_writes in zip(
            read["1"], read["10"], written["1"], written["10"], strict=True
        )
    ]
    return decided_at(
        "the_policies_cross",
        "RusKey, figures 6 and 8",
        "the smaller of two ratios of throughput: K = 1 over 10 with most lookups, 10 over 1 with fewest",
        ratio_interval(ratios),
        low=1.0,
        where=where,
    )


def _between(points: Sequence[Mapping[str, Any]], where: Where) -> Claim:
    """Returns the gain of a middle policy over both extreme ones with half lookups."""
    runs = _throughputs(points, 0.5)
    between, end = _best(runs, POLICIES[1:-1]), _best(runs, (POLICIES[0], POLICIES[-1]))
    ratios = [inner / outer for inner, outer in zip(runs[between], runs[end], strict=True)]
    return decided_at(
        "between_is_best_at_50%_lookups",
        "RusKey, figures 6 and 8",
        f"ratio of throughput, K = {between} over K = {end}, the better of the ends",
        ratio_interval(ratios),
        low=1.0,
        where=where,
    )


def _panels(points: Sequence[Mapping[str, Any]]) -> list[Panel]:
    def panel(figure: str, title: str, unit: str) -> Panel:
        traces = []
        for shape in dict.fromkeys(point["shape"] for point in points):
            own = [point for point in points if point["shape"] == shape]
            shares = sorted({point["lookups"] for point in own})
            values = [
                float(np.median([point[figure] for point in own if point["lookups"] == share]))
                for share in shares
            ]
            traces.append(lines(shape, shares, values, mode="lines+markers"))
        return Panel(title, "share of lookups", unit, traces)

    return [
        panel("throughput_ops_s", "throughput", "operations a second"),
        panel("read_latency_us_p99", "lookups, p99", "us"),
        panel("write_amplification", "write amplification", "times"),
        panel("compaction_share", "compactions' share of the device's bytes", "share"),
    ]


if __name__ == "__main__":
    main(
        "flsm.tradeoff",
        tradeoff,
        scale=128,
        quick_scale=512,
        extra={
            "device": "ssd-100mb",
            "filters": "uniform",
            "bits": 8.0,
            "absent": "no",
            "disk_levels": 0,
            "repeats": 2,
            "further": "",
        },
    )
