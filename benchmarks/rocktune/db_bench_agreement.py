"""Compares how engines `db_bench` and `embedded` rank configurations, with equal library and conditions.

Both run the write-heavy setting with uniform keys, which both can express, for the same whole seconds, one
after the other, `--repeats` times with different random numbers. The means are compared. The ratio is
db_bench's operations per second over the embedded engine's. A limited device needs a cgroup for db_bench, and
so a disk (TMPDIR) and permission to limit it.
"""

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.claims import (
    Claim,
    Settings,
    decided,
    main,
    ratio_interval,
    reported,
    spearman_interval,
)
from benchmarks.common.measuring import WRITE_HEAVY, embedded_engine, experiment_of
from benchmarks.common.tables import write_csv
from rocktune.engine import DbBenchEngine, Engine, RunFailed
from rocktune.errors import UserError
from rocktune.trial import Configuration, Experiment
from rocktune.workload.distributions import KeyChooserSpec

SOURCE = "engines agree"
LOWER_BOUND = 0.75
SECONDS, QUICK_SECONDS = 6.0, 1.0
QUICK_CONFIGURATIONS = 3


@contextmanager
def _db_bench_engine(program: str) -> Iterator[DbBenchEngine]:
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as directory:
        engine = DbBenchEngine(
            program, Path(directory) / "data", memory_limit_bytes=8 << 30, disk_limit_bytes=0
        )
        with closing(engine):
            yield engine


def _experiment(device: str, scale: int) -> Experiment:
    experiment = experiment_of(WRITE_HEAVY, device, scale)
    uniform = {"name": f"{WRITE_HEAVY}-uniform", "key_chooser": KeyChooserSpec()}
    return replace(experiment, workload=experiment.workload.model_copy(update=uniform))


def _throughput(
    settings: Settings, engine: Engine, experiment: Experiment, configuration: Configuration, repeat: int
) -> float:
    """Returns operations per second, NaN if the run fails."""
    try:
        run = engine.open(experiment, configuration, settings.seed + repeat)
        try:
            return run.advance(QUICK_SECONDS if settings.quick else SECONDS).figures["throughput_ops_s"]
        finally:
            run.close()
    except RunFailed as failure:
        settings.say(f"{engine.version}: {failure}")
        return float("nan")


def _measured(settings: Settings, engines: dict[str, Engine]) -> list[dict[str, Any]]:
    experiment, rows = _experiment(str(settings.extra["device"]), settings.scale), []
    count = QUICK_CONFIGURATIONS if settings.quick else int(settings.extra["configurations"])
    sample = experiment.space.sample(count, np.random.default_rng(settings.seed))
    for index, configuration in enumerate(sample):
        for repeat in range(int(settings.extra["repeats"])):
            row: dict[str, Any] = {"configuration": index, "repeat": repeat}
            for who in sorted(engines, reverse=(index + repeat) % 2 == 1):
                row[who] = _throughput(settings, engines[who], experiment, configuration, repeat)
            rows.append(
                {name: row[name] for name in ("configuration", "repeat", *engines)} | dict(configuration)
            )
            settings.say(f"{index + 1} of {count}: {[row[who] for who in engines]} operations/s")
    return rows


def _means(rows: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    """Returns both engines' mean throughput of each configuration without failed runs."""
    pairs: dict[int, list[tuple[float, float]]] = {}
    for row in rows:
        pairs.setdefault(row["configuration"], []).append((row["embedded"], row["db_bench"]))
    means = np.array([np.mean(of_one, axis=0) for of_one in pairs.values()])
    first, second = means[~np.isnan(means).any(axis=1)].T
    return list(first), list(second)


def db_bench_agreement(settings: Settings) -> list[Claim]:
    """Measures random configurations of Dremel's space with both engines."""
    with embedded_engine() as embedded, _db_bench_engine(str(settings.extra["db_bench"])) as db_bench:
        if db_bench.program.rocksdb_version != embedded.checker.rocksdb_version:
            raise UserError(
                f"{db_bench.program.path} has RocksDB {db_bench.program.rocksdb_version}, the worker "
                f"{embedded.checker.rocksdb_version}; name one of the same version with --db-bench"
            )
        rows = _measured(settings, {"embedded": embedded, "db_bench": db_bench})
        version = f"{db_bench.version} beside {embedded.version}"
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
    embedded_ops_s, db_bench_ops_s = _means(rows)
    correlation = spearman_interval(embedded_ops_s, db_bench_ops_s)
    device = str(settings.extra["device"])
    return [
        decided(
            reported(
                "db_bench_against_embedded_throughput_spearman",
                SOURCE,
                "correlation",
                correlation,
                engine=version,
                device=device,
            ),
            low=LOWER_BOUND,
        ),
        reported(
            "db_bench_over_embedded_throughput",
            SOURCE,
            "ratio of operations per second",
            ratio_interval(list(np.divide(db_bench_ops_s, embedded_ops_s))),
            engine=version,
            device=device,
        ),
    ]


if __name__ == "__main__":
    main(
        "rocktune.db_bench_agreement",
        db_bench_agreement,
        scale=64,
        extra={"configurations": 30, "db_bench": "db_bench", "device": "none", "repeats": 1},
    )
