"""Three column families with load on two, over one family of the same total, in the runner and in db_bench.

The quantity is how many times faster a program is with three families than with one. Both programs write to
empty stores and read stores of their own that hold all keys and are compacted whole, with the same library,
options and threads. Runs come in quartets: both programs with one and with three families, in rotating order.
What counts is the runner's ratio over db_bench's in each quartet. A quartet's logarithm has a standard
deviation of 0.04 to 0.09 on a quiet machine, so 40 of them give an interval of at most 3% to each side, which
decides a tolerance of 5% unless the figure is near it.
"""

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.common.claims import Claim, Settings, decided, main, ratio_interval, reported
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.rocktune.runner_against_db_bench import (
    CACHE_BYTES,
    KEYS,
    OPTIONS,
    TIMEOUT_S,
    opened_worker,
    throughput_in,
)
from rocktune.engine.local.bases import clone_store
from rocktune.errors import UserError

MIXES: dict[str, dict[str, float]] = {"fillrandom": {"put": 1.0}, "readrandom": {"get": 1.0}}
FAMILIES = (1, 3)
NAMES = ("default", "column_family_name_000001", "column_family_name_000002")
"""Names of the column families, as db_bench calls them."""
THREADS = 2
QUARTETS, QUICK_QUARTETS = 40, 1
SECONDS, QUICK_SECONDS = 2.0, 1.0
WHY = "One run differs from the next by a tenth on a shared machine."


@dataclass(frozen=True)
class _Side:
    """A program with a number of column families.

    Attributes:
        program: "runner" or "db_bench".
        families: 1, or 3 of which two have load.
    """

    program: str
    families: int


SIDES = tuple(_Side(program, families) for program in ("runner", "db_bench") for families in FAMILIES)


def _workload(mix: dict[str, float], families: int, preloaded: bool) -> dict[str, Any]:
    keys = KEYS if families == 1 else KEYS // 2
    preload = {"keys": keys if preloaded else 0, "random_order": True}
    loaded = [
        {"name": name, "keys": keys, "share": 1.0 / (1 if families == 1 else 2), "preload": preload}
        for name in NAMES[: min(2, families)]
    ]
    idle = [{"name": NAMES[2], "keys": 1, "share": 0.0}] if families == 3 else []
    return {
        "name": "beside-db-bench",
        "threads": THREADS,
        "value": {"kind": "fixed", "low": 1024, "high": 1024},
        "families": loaded + idle,
        "sessions": [{"mix": mix}],
    }


def _runner_ops_s(store: Path, benchmark: str, families: int, seconds: float, seed: int) -> float:
    worker = opened_worker(store, _workload(MIXES[benchmark], families, benchmark == "readrandom"), seed)
    try:
        reply = worker.request("advance", TIMEOUT_S, {"until_s": seconds})
        return float(sum(kind["count"] for kind in reply["operations"].values())) / seconds
    finally:
        worker.kill()


def _db_bench(store: Path, benchmarks: str, families: int, *flags: str) -> str:
    """Runs db_bench and returns its output; RocksDB's options are those of the runner."""
    command = [
        "db_bench", f"--db={store}", f"--benchmarks={benchmarks}", f"--num={KEYS}", "--value_size=1024",
        "--key_size=16", "--compression_ratio=0.5", "--statistics=1", f"--cache_size={CACHE_BYTES}",
        f"--write_buffer_size={OPTIONS['cf']['write_buffer_size']}", "--compression_type=snappy",
        "--bloom_bits=10", "--max_background_jobs=2", f"--num_column_families={families}",
        # db_bench's own default; RocksDB's is off, and it matters to families.
        "--enable_pipelined_write=false", *flags,
    ]  # fmt: skip
    if families == 3:
        command.append("--column_family_distribution=50,50,0")
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        raise UserError(f"db_bench failed: {finished.stderr.strip().rpartition(chr(10))[2]}")
    return finished.stdout


def _db_bench_ops_s(store: Path, benchmark: str, families: int, seconds: float, seed: int) -> float:
    existing = "true" if benchmark == "readrandom" else "false"
    flags = (f"--threads={THREADS}", f"--duration={seconds:.0f}", f"--seed={seed}")
    output = _db_bench(store, benchmark, families, f"--use_existing_db={existing}", *flags)
    return throughput_in(output, benchmark)


def _loaded(scratch: Path, seed: int) -> dict[_Side, Path]:
    """Returns a store with all keys for each side."""
    bases = {}
    for side in SIDES:
        base = scratch / f"base-{side.program}-{side.families}"
        base.mkdir()
        if side.program == "runner":
            loader = opened_worker(base, _workload(MIXES["readrandom"], side.families, preloaded=True), seed)
            loader.request("load", TIMEOUT_S)
            loader.close_store(TIMEOUT_S)
        else:
            _db_bench(base, "filluniquerandom,flush,waitforcompaction", side.families, "--threads=1")
        _compacted(base, side.families)
        bases[side] = base
    return bases


def _compacted(store: Path, families: int) -> None:
    """Compacts each column family whole, so that reads find the same shape in every store."""
    for name in NAMES[:families]:
        command = ["ldb", f"--db={store}", f"--column_family={name}", "--try_load_options", "compact"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0 or "Failed" in done.stdout + done.stderr:
            raise UserError(f"ldb cannot compact {store}: {(done.stderr or done.stdout).strip()[:200]}")


def _quartet(
    scratch: Path, bases: dict[_Side, Path], benchmark: str, seconds: float, seed: int
) -> dict[_Side, float]:
    """Returns operations per second of each side, in an order that rotates with the seed."""
    figures = {}
    start = seed % len(SIDES)
    for side in SIDES[start:] + SIDES[:start]:
        store = scratch / "store"
        store.mkdir()
        if benchmark == "readrandom":
            clone_store(bases[side], store)
        measure = _runner_ops_s if side.program == "runner" else _db_bench_ops_s
        figures[side] = measure(store, benchmark, side.families, seconds, seed)
        shutil.rmtree(store)
    return figures


def families_against_db_bench(settings: Settings) -> list[Claim]:
    """Compares what three families cost the runner and db_bench, writing and reading."""
    if shutil.which("db_bench") is None or shutil.which("ldb") is None:
        raise UserError("db_bench and ldb are not here: install Debian's rocksdb-tools")
    quartets, seconds = (QUICK_QUARTETS, QUICK_SECONDS) if settings.quick else (QUARTETS, SECONDS)
    rows: list[dict[str, Any]] = []
    claims = []
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as name, embedded_engine() as engine:
        scratch = Path(name)
        bases = _loaded(scratch, settings.seed)
        for benchmark in MIXES:
            own: dict[str, list[float]] = {"runner": [], "db_bench": []}
            for quartet in range(quartets):
                figures = _quartet(scratch, bases, benchmark, seconds, settings.seed + quartet)
                for program, ratios in own.items():
                    ratios.append(figures[_Side(program, 3)] / figures[_Side(program, 1)])
                named = {f"{side.program}_{side.families}_ops_s": ops for side, ops in figures.items()}
                rows.append({"benchmark": benchmark, "quartet": quartet, **named})
                if settings.out is not None:
                    write_csv(settings.out / "quartets.csv", rows)
            settings.say(f"{benchmark}: {[round(ratio, 3) for ratio in own['runner']]}")
            shared = {"source": "column families", "engine": engine.version, "device": "none"}
            for program, ratios in own.items():
                claims.append(
                    reported(
                        name=f"{program}_three_families_over_one_{benchmark}",
                        unit="ratio of operations per second",
                        measured=ratio_interval(ratios),
                        **shared,
                    )
                )
            agreement = [ours / theirs for ours, theirs in zip(own["runner"], own["db_bench"], strict=True)]
            claim = reported(
                name=f"runner_over_db_bench_three_families_over_one_{benchmark}",
                unit="ratio of ratios",
                measured=ratio_interval(agreement),
                **shared,
            )
            claims.append(decided(claim, low=0.95, high=1.05, why=WHY))
    return claims


if __name__ == "__main__":
    main("rocktune.families_against_db_bench", families_against_db_bench, scale=1, quick_scale=1)
