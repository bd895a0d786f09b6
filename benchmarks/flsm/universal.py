"""The strengths of universal compaction: merges per entry, their timing, and their effect on lookups.

Universal compaction with few and many runs, and eager or lazy to include larger ones, is compared with FLSM
stores of several size ratios, with equal memory, filters and device. Each run is measured in short windows.
"""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass

import numpy as np

from benchmarks.common.claims import Claim, Settings, main, ratio_interval, reported
from benchmarks.common.figures import Panel, bars, write_figure
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import (
    RUSKEY,
    Where,
    buffer_at,
    compaction_written_bytes,
    false_positives,
    latency_us,
    sorted_runs,
)
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.online.flsm.tradeoff_map import shape_options
from rocktune.online.plain import plain_experiment
from rocktune.space import merged_options
from rocktune.trial import Configuration, Measurement, OptionMaps
from rocktune.workload import load_workload
from rocktune.workload.loads import MixSpec

SOURCE = "universal compaction"
BITS = 8.0
WARM_S, WINDOW_S = 2560.0, 64.0
"""At full size."""
WINDOWS = 80
UNIVERSAL = {
    f"universal, {runs} runs, ratio {ratio}": (runs, ratio) for runs in (4, 10, 20) for ratio in (1, 50)
}
"""Number of runs at which merging starts, and percent by which the next run may be larger to be merged."""
FLSM = {
    f"FLSM, T = {size_ratio}, K = {policy}": (size_ratio, policy)
    for size_ratio, policy in ((10, 1), (10, 3), (10, 10), (6, 5), (6, 6), (4, 3), (4, 4), (3, 2))
}


@dataclass(frozen=True)
class Row:
    """The measurement of one run.

    Attributes:
        shape: compaction style and its settings.
        lookups: share of lookups.
        turn: number of the turn, from 0.
        throughput_ops_s: operations per second; larger is better.
        merges_per_entry: bytes that compactions wrote for each flushed byte; smaller is better.
        runs: mean number of sorted runs that a lookup may have to check; smaller is better.
        false_positives: mean number of runs that a lookup reads without finding the key.
        read_latency_us: mean latency of lookups in microseconds.
        read_latency_us_p99: median over windows of the lookups' 99th percentile in microseconds.
        merging_share: share of the device's bytes that compactions read and wrote.
        spread: standard deviation over mean of compactions' bytes in a window.
        slowed: mean read latency in the quarter of windows with the most merging, over that in the quarter
            with the least.
    """

    shape: str
    lookups: float
    turn: int
    throughput_ops_s: float
    merges_per_entry: float
    runs: float
    false_positives: float
    read_latency_us: float
    read_latency_us_p99: float
    merging_share: float
    spread: float
    slowed: float


def universal(settings: Settings) -> list[Claim]:
    """Measures every shape with every mix in turns; `--device` says where, `--turns` how often."""
    device = str(settings.extra["device"])
    shapes = _shapes()
    if settings.quick:
        shapes = {name: shapes[name] for name in ("universal, 4 runs, ratio 1", "FLSM, T = 4, K = 3")}
    mixes = (0.5,) if settings.quick else tuple(map(float, str(settings.extra["lookups"]).split(",")))
    rows: list[Row] = []
    with processors_awake(), embedded_engine() as engine:
        for turn in range(1 if settings.quick else int(settings.extra["turns"])):
            for lookups in mixes:
                for shape, options in shapes.items():
                    windows = _windows(settings, engine, device, lookups, options, turn)
                    rows.append(_row(shape, lookups, turn, windows))
                    settings.say(f"turn {turn + 1}, {lookups:.0%}, {shape}: {rows[-1].throughput_ops_s:.0f}")
        where = Where(engine.version, device)
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
        write_figure(settings, f"Universal compaction and the FLSM on {device}", _panels(rows))
    return [claim for lookups in mixes for claim in _claims(rows, lookups, where)]


def _shapes() -> dict[str, OptionMaps]:
    universal = {
        name: merged_options(
            shape_options("universal", "uniform", BITS, 10),
            {
                "cf": {
                    "level0_file_num_compaction_trigger": str(runs),
                    "level0_slowdown_writes_trigger": str(runs + 16),
                    "level0_stop_writes_trigger": str(runs + 32),
                    "compaction_options_universal": f"{{size_ratio={ratio}}}",
                }
            },
        )
        for name, (runs, ratio) in UNIVERSAL.items()
    }
    return universal | {
        name: shape_options(str(policy), "uniform", BITS, size_ratio)
        for name, (size_ratio, policy) in FLSM.items()
    }


def _windows(
    settings: Settings, engine: EmbeddedEngine, device: str, lookups: float, options: OptionMaps, turn: int
) -> list[Measurement]:
    balanced = load_workload("ruskey-balanced")
    (session,) = balanced.sessions
    mixed = session.model_copy(update={"mix": MixSpec(get=lookups, put=round(1 - lookups, 6))})
    seed = settings.seed + turn
    experiment = plain_experiment(
        balanced.model_copy(update={"sessions": (mixed,)}),
        load_device(device),
        settings.scale,
        merged_options(RUSKEY, buffer_at(settings.scale), options),
        seed,
    )
    count = 8 if settings.quick else WINDOWS
    warm_s = WINDOW_S if settings.quick else WARM_S
    with closing(engine.open(experiment, Configuration({}), seed)) as run:
        run.advance(warm_s / settings.scale)
        return [run.advance((warm_s + (1 + number) * WINDOW_S) / settings.scale) for number in range(count)]


def _row(shape: str, lookups: float, turn: int, windows: Sequence[Measurement]) -> Row:
    bytes_by_cause = {
        cause: np.array([window.raw["device_bytes"][cause] for window in windows], float)
        for cause in windows[0].raw["device_bytes"]
    }
    merging = bytes_by_cause["compaction_read"] + bytes_by_cause["compaction_write"]
    latencies_us = np.array([latency_us(window, "get") for window in windows])
    order, quarter = np.argsort(merging), max(1, len(windows) // 4)
    reads = sum(window.raw["operations"].get("get", {"count": 0})["count"] for window in windows)
    return Row(
        shape=shape,
        lookups=lookups,
        turn=turn,
        throughput_ops_s=float(np.mean([window.figures["throughput_ops_s"] for window in windows])),
        merges_per_entry=sum(map(compaction_written_bytes, windows)) / bytes_by_cause["flush"].sum(),
        runs=float(np.mean([sorted_runs(window) for window in windows])),
        false_positives=sum(map(false_positives, windows)) / max(1, reads),
        read_latency_us=float(np.nanmean(latencies_us)),
        read_latency_us_p99=float(
            np.nanmedian([window.figures["read_latency_us_p99"] for window in windows])
        ),
        merging_share=float(merging.sum() / sum(each.sum() for each in bytes_by_cause.values())),
        spread=float(merging.std() / merging.mean()),
        slowed=float(np.nanmean(latencies_us[order[-quarter:]]) / np.nanmean(latencies_us[order[:quarter]])),
    )


def _mean(rows: Sequence[Row], shape: str, figure: str) -> float:
    return float(np.mean([getattr(row, figure) for row in rows if row.shape == shape]))


def _claims(all_rows: Sequence[Row], lookups: float, where: Where) -> list[Claim]:
    """Returns claims that compare the best shape of each kind under one mix."""
    rows = [row for row in all_rows if row.lookups == lookups]

    def best(shapes: Mapping[str, object]) -> str:
        measured = {row.shape for row in rows} & set(shapes)
        return max(measured, key=lambda shape: _mean(rows, shape, "throughput_ops_s"))

    own, rival = best(FLSM), best(UNIVERSAL)
    found = []
    for figure in ("throughput_ops_s", "merges_per_entry", "runs", "read_latency_us", "spread", "slowed"):
        pairs = zip(*([row for row in rows if row.shape == shape] for shape in (own, rival)), strict=True)
        found.append(
            reported(
                f"{figure}_at_{lookups:.0%}_lookups",
                SOURCE,
                f"ratio, {own} over {rival}",
                ratio_interval([getattr(mine, figure) / getattr(theirs, figure) for mine, theirs in pairs]),
                **asdict(where),
            )
        )
    return found


def _panels(rows: Sequence[Row]) -> list[Panel]:
    shapes = list(dict.fromkeys(row.shape for row in rows))
    panels = []
    for figure, title, unit in (
        ("throughput_ops_s", "throughput", "operations a second"),
        ("merges_per_entry", "merges per entry", "times"),
        ("runs", "sorted runs", "runs, mean"),
        ("spread", "how unevenly compactions work", "deviation over mean of a window's bytes"),
        ("slowed", "lookups while much is merged", "mean latency over that while little is"),
        ("read_latency_us_p99", "lookups, p99", "us"),
    ):
        traces = [
            bars(
                f"{lookups:.0%} lookups",
                shapes,
                [_mean([row for row in rows if row.lookups == lookups], shape, figure) for shape in shapes],
            )
            for lookups in dict.fromkeys(row.lookups for row in rows)
        ]
        panels.append(Panel(title, "", unit, traces))
    return panels


if __name__ == "__main__":
    main(
        "flsm.universal",
        universal,
        scale=128,
        quick_scale=512,
        extra={"device": "ssd-100mb", "turns": 2, "lookups": "0.5"},
    )
