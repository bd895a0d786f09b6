"""Compares the replay of a recorded trace, whole and sampled, with the run that it was recorded from.

YCSB-A runs in a closed loop at full size, without and with RocksDB's own tracer. The trace is imported with
the database on which it was recorded, and replayed in a closed loop, whole and as a sample of 1/16 on a 1/16
model. The workload that `rocktune profile` makes of the trace alone runs as well, and estimates how many keys
there are.

The difference that matters is 5%. Two stores that are loaded in random order differ in their levels, and
their throughput by up to 10%, so all stores are loaded in ascending order, which leaves one level. The device
sets the pace, not the processors.

--scale S divides the number of keys and the memory, not the replayed model. With --out an interrupted
comparison continues after the last seed that is recorded there.
"""

import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from benchmarks.common.claims import Claim, Settings, decided, main, mean_interval, ratio_interval, reported
from benchmarks.common.flags import check_flags
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import append_rows, read_rows, typed
from rocktune.analysis.profile import gathered, profiled
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine, import_trace
from rocktune.space import load_space
from rocktune.trial import Experiment, Measurement
from rocktune.workload import TraceSummary, WorkloadSpec, load_workload, trace_workload

DEVICE = "cloud-gp3"
SOURCE = "trace replay"
SAMPLE = 16
KEYS = 2_000_000
MIN_KEYS = 50_000
MEMORY_BYTES_PER_KEY = 256
MIN_MEMORY_BYTES = 128 << 20
SECONDS = 60.0
QUICK_S = 4.0
RECORDING_S = 2.0
"""Seconds after which a recording run is looked at."""
RECORDED = 1.3
"""Operations of the recorded run over those of a live run without a tracer."""


def trace_replay(settings: Settings) -> list[Claim]:
    """Measures each of `--skews` with `--seeds` seeds: live, recorded, replayed whole and sampled, profiled.

    A seed takes some 280 s.
    """
    skews = [float(each) for each in str(settings.extra["skews"]).split(",")]
    skews, seeds = (skews[:1], 1) if settings.quick else (skews, int(settings.extra["seeds"]))
    given, device = load_workload("ycsb-a"), load_device(DEVICE)
    check_flags(settings, frozenset({"skews", "seeds"}))
    keys = max(MIN_KEYS, KEYS // settings.scale)
    path = None if settings.out is None else settings.out / "runs.csv"
    rows = read_rows(path, typed(float, seed=int))
    recorded = {(row["skew"], row["seed"]) for row in rows}
    with embedded_engine() as engine:
        version = engine.version
    for skew in skews:
        workload = _live(given, skew, keys)
        space = load_space("dremel", max(MIN_MEMORY_BYTES, keys * MEMORY_BYTES_PER_KEY), keys)
        live = Experiment(workload=workload, device=device, scale=1, space=space, base_options={})
        for seed in range(settings.seed, settings.seed + seeds):
            if (skew, seed) in recorded:
                continue
            # The live engine's only base is the database with which the live runs begin.
            with (
                embedded_engine() as live_engine,
                embedded_engine() as engine,
                tempfile.TemporaryDirectory() as folder,
            ):
                compared = _compared(live_engine, engine, live, seed, Path(folder), settings)
            rows.append({"skew": skew, "seed": seed} | compared)
            append_rows(path, rows[-1:])
            settings.say(f"skew {skew}, seed {seed}: {rows[-1]}")
    return [
        claim
        for skew in skews
        for claim in _claims([row for row in rows if row["skew"] == skew], skew, version)
    ]


def _live(workload: WorkloadSpec, skew: float, keys: int) -> WorkloadSpec:
    """Returns YCSB-A with a skew and a number of keys, all of which are loaded."""
    chooser = workload.key_chooser.model_copy(update={"skew": skew})
    preload = workload.preload.model_copy(update={"keys": keys})
    chosen = workload.model_copy(update={"keys": keys, "preload": preload, "key_chooser": chooser})
    return _loaded_in_order(chosen)


def _loaded_in_order(workload: WorkloadSpec) -> WorkloadSpec:
    preload = workload.preload.model_copy(update={"random_order": False})
    return workload.model_copy(update={"preload": preload})


def _compared(
    live_engine: EmbeddedEngine,
    engine: EmbeddedEngine,
    live: Experiment,
    seed: int,
    folder: Path,
    settings: Settings,
) -> dict[str, float]:
    """Returns throughput and hit ratio of the live run, of both replays and of the profile."""
    seconds = QUICK_S if settings.quick else SECONDS
    trace, operations = folder / "trace", folder / "whole.operations"
    plain = _run(live_engine, live, seed, seconds)
    _record(live_engine, live, seed, RECORDED * plain.figures["throughput_ops_s"] * seconds, trace)
    (database,) = (each for each in live_engine.data.bases.iterdir() if each.is_dir())
    stored = import_trace(trace, operations, preload_from=database)
    alone = import_trace(trace, folder / "alone.operations")
    trace.unlink()
    workload = trace_workload(
        stored, str(operations), "replayed", threads=live.workload.threads, preload_from=str(database)
    )
    whole = replace(live, workload=_loaded_in_order(workload))
    sampled = replace(whole, scale=SAMPLE)
    found = {
        "live": plain,
        "whole": _run(engine, whole, seed, seconds),
        "sample": _run(engine, sampled, seed, seconds / SAMPLE),
        "profiled": _run(engine, replace(live, workload=_profiled(alone, live.workload)), seed, seconds),
    }
    return {f"{name}_throughput_ops_s": run.figures["throughput_ops_s"] for name, run in found.items()} | {
        f"{name}_hit_ratio": _hit_ratio(run) for name, run in found.items()
    }


def _profiled(summary: TraceSummary, live: WorkloadSpec) -> WorkloadSpec:
    """Returns the workload of a trace alone, with the threads and the closed loop that no trace states."""
    workload = profiled(gathered(None, None, None, summary), "profiled").workload
    (session,) = workload.sessions
    closed = session.model_copy(update={"arrival": live.sessions[0].arrival})
    return _loaded_in_order(workload.model_copy(update={"sessions": (closed,), "threads": live.threads}))


def _run(engine: EmbeddedEngine, experiment: Experiment, seed: int, seconds: float) -> Measurement:
    """Returns the measurement of one run of the space's default."""
    with closing(engine.open(experiment, experiment.space.default(), seed)) as run:
        return run.advance(seconds)


def _record(engine: EmbeddedEngine, experiment: Experiment, seed: int, count: float, trace: Path) -> None:
    """Records at least `count` operations.

    A trace that ends before its replay begins again, and its keys are in the cache then. A run that is
    recorded is slower than others.
    """
    with closing(engine.open(experiment, experiment.space.default(), seed)) as run:
        run.start_trace(trace)
        until_s, left = 0.0, count
        while left > 0:
            until_s += RECORDING_S
            left -= run.advance(until_s).figures["throughput_ops_s"] * RECORDING_S
        run.end_trace()


def _hit_ratio(measured: Measurement) -> float:
    """Returns the share of the block cache's lookups of data blocks that were hits."""
    tickers: dict[str, int] = measured.raw["tickers"]
    hits = tickers.get("rocksdb.block.cache.data.hit", 0)
    return hits / max(1, hits + tickers.get("rocksdb.block.cache.data.miss", 0))


def _claims(rows: list[dict[str, float]], skew: float, version: str) -> list[Claim]:
    """Returns the claims for one skew."""

    def ratios(which: str) -> list[float]:
        return [row[f"{which}_throughput_ops_s"] / row["live_throughput_ops_s"] for row in rows]

    suffix = f"skew_{skew:g}".replace(".", "_")
    facts = {"engine": version, "device": DEVICE}
    unit = "ratio of throughput"
    points = [100 * (row["sample_hit_ratio"] - row["live_hit_ratio"]) for row in rows]
    whole = reported(f"replay_over_live_{suffix}", SOURCE, unit, ratio_interval(ratios("whole")), **facts)
    sample = reported(f"sample_over_live_{suffix}", SOURCE, unit, ratio_interval(ratios("sample")), **facts)
    hits = reported(
        f"sample_hits_less_live_{suffix}", SOURCE, "points of hit ratio", mean_interval(points), **facts
    )
    profile = reported(
        f"profiled_over_live_{suffix}", SOURCE, unit, ratio_interval(ratios("profiled")), **facts
    )
    return [
        decided(whole, 0.95, 1.05),
        decided(sample, 0.9, 1.1),
        decided(profile, 0.9, 1.1),
        decided(hits, -2, 2),
    ]


if __name__ == "__main__":
    main("rocktune.trace_replay", trace_replay, scale=1, extra={"skews": "0.99,0.9,0.7", "seeds": 5})
