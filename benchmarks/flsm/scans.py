"""Scans of an FLSM store against RocksDB's leveled compaction, with equal numbers of sorted runs.

Nothing is written while scans are measured, so the trees keep the shape that the load left. Their numbers of
runs vary between loads; the FLSM store has K of 1 and of 2 in turn. Trees with equal numbers of runs are
compared.
"""

from collections.abc import Sequence
from typing import Any

from benchmarks.common.claims import Claim, Settings, main, mean_interval, ratio_interval, reported
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import RUSKEY, SIZE_RATIO, Where, buffer_at, decided_at, layout, sorted_runs
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.online import MissionLoad, run_missions
from rocktune.space import merged_options
from rocktune.trial import OptionMaps
from rocktune.workload import WorkloadSpec, load_workload
from rocktune.workload.loads import MixSpec
from rocktune.workload.sessions import SessionSpec

SOURCE = "scans"
LEAST = 0.9
LEVELED: OptionMaps = {
    "cf": {
        "compaction_style": "kCompactionStyleLevel",
        "level_compaction_dynamic_level_bytes": "false",
        "max_bytes_for_level_multiplier": str(SIZE_RATIO),
    },
    "table": {"filter_policy": "bloomfilter:8:false"},
}
"""Level 1 is as large as the FLSM store's: as many write buffers as the size ratio."""

Pair = tuple[dict[str, Any], dict[str, Any]]
"""A run of the FLSM store and one of RocksDB's."""


def scans(settings: Settings) -> list[Claim]:
    """Scans both stores in turns; `--device` says where, `--turns` how often."""
    turns = 2 if settings.quick else int(settings.extra["turns"])
    device = str(settings.extra["device"])
    rows: list[dict[str, Any]] = []
    with processors_awake(), embedded_engine() as engine:
        for turn in range(turns):
            order = ("flsm", "leveled") if turn % 2 else ("leveled", "flsm")
            rows += [_row(settings, engine, store, device, turn) for store in order]
            settings.say(f"turn {turn + 1} of {turns}")
        where = Where(engine.version, device)
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
    claims = [
        reported(
            f"scans_{store}",
            SOURCE,
            "scans of 100 entries a second, at any number of runs",
            mean_interval([float(row["scans_s"]) for row in rows if row["store"] == store]),
            engine=where.engine,
            device=where.device,
        )
        for store in ("flsm", "leveled")
    ]
    pairs = _pairs(rows)
    if not pairs:
        settings.say("no tree of one store had as many runs as one of the other: raise --turns")
        return claims
    return [_claim(pairs, where), *claims]


def _row(settings: Settings, engine: EmbeddedEngine, store: str, device: str, turn: int) -> dict[str, Any]:
    operations = 500 if settings.quick else int(settings.extra["operations"])
    buffer = buffer_at(settings.scale)
    level1_bytes = str(SIZE_RATIO * int(buffer["cf"]["write_buffer_size"]))
    shape = layout([1 + turn % 2]) if store == "flsm" else LEVELED
    load = MissionLoad(
        workload=_scanned(),
        device=load_device(device),
        scale=settings.scale,
        missions=2,
        operations=operations * settings.scale,
        options=merged_options(RUSKEY, buffer, {"cf": {"max_bytes_for_level_base": level1_bytes}}, shape),
        seed=settings.seed + turn,
    )
    _, window = run_missions(engine, load)
    return {
        "turn": turn,
        "store": store,
        "runs": sorted_runs(window),
        "scans_s": f"{operations / (window.until_s - window.from_s):.6g}",
        "scan_latency_us_p99": f"{window.figures['scan_latency_us_p99']:.5g}",
    }


def _scanned() -> WorkloadSpec:
    workload = load_workload("ruskey-balanced")
    return workload.model_copy(update={"sessions": (SessionSpec(mix=MixSpec(scan=1.0)),)})


def _claim(pairs: Sequence[Pair], where: Where) -> Claim:
    runs = ", ".join(map(str, sorted({int(own["runs"]) for own, _ in pairs})))
    return decided_at(
        "scans_over_leveled",
        SOURCE,
        f"ratio of scans of 100 entries a second, at {runs} runs in both",
        ratio_interval([float(own["scans_s"]) / float(stock["scans_s"]) for own, stock in pairs]),
        low=LEAST,
        where=where,
    )


def _pairs(rows: Sequence[dict[str, Any]]) -> list[Pair]:
    """Returns each FLSM store with the leveled store of equal runs that was measured closest in time."""
    pairs = []
    for own in (row for row in rows if row["store"] == "flsm"):
        equal = [row for row in rows if row["store"] == "leveled" and row["runs"] == own["runs"]]
        if equal:
            pairs.append((own, min(equal, key=lambda row: abs(row["turn"] - own["turn"]))))
    return pairs


if __name__ == "__main__":
    main(
        "flsm.scans",
        scans,
        scale=64,
        quick_scale=2048,
        extra={"device": "ssd-100mb", "operations": 20_000, "turns": 16},
    )
