"""Measures how a store's throughput depends on the file system that holds its data.

The throttled device bounds the bytes of all I/O together. A compaction that gets its small reads back sooner
asks for the next sooner, so a faster file system gives compactions a larger part of the same device. Pairs of
runs in both directories, in changing order, with equal seeds. 5% matters, and a run varies by about 3%, so
six pairs of a configuration tell it.
"""

import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

import numpy as np

from benchmarks.alabed.setups import NEAR, SETUPS
from benchmarks.common.claims import Claim, Settings, decided, main, ratio_interval, reported
from benchmarks.common.measuring import WRITE_HEAVY, experiment_of, measure, processors_awake
from benchmarks.common.tables import write_csv
from rocktune.engine import EmbeddedEngine
from rocktune.trial import Configuration, Experiment

SOURCE = "equal runs on two file systems"
MATTERS = 0.05
_DRAWN = 3
_SEARCHED = "ycsb-updates"


def file_systems(settings: Settings) -> list[Claim]:
    """Measures each configuration in pairs, one run in each of the two `--directories`."""
    pairs, seconds = (1, 0.2) if settings.quick else (6, SETUPS[_SEARCHED].seconds / settings.scale)
    chosen = _chosen(settings)
    rows: list[dict[str, str | int | float]] = []
    ratios: dict[str, list[float]] = {name: [] for name in chosen}
    with ExitStack() as opened:
        opened.enter_context(processors_awake())
        engines = [
            opened.enter_context(closing(_engine(directory, opened)))
            for directory in str(settings.extra["directories"]).split(",")
        ]
        for pair in range(pairs):
            for name, (experiment, configuration) in chosen.items():
                found = {}
                for place in (0, 1) if pair % 2 else (1, 0):
                    window = measure(engines[place], experiment, configuration, pair, (seconds,))
                    found[place] = window.figures["throughput_ops_s"]
                    amplification = window.figures["write_amplification"]
                    row = {"configuration": name, "directory": place, "pair": pair}
                    rows.append(
                        row | {"throughput_ops_s": found[place], "write_amplification": amplification}
                    )
                ratios[name].append(found[1] / found[0])
            settings.say(f"pair {pair + 1} of {pairs}")
        version = engines[0].version
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
    return [
        _claim(name, ratios[name], version, experiment.device.name)
        for name, (experiment, _) in chosen.items()
    ]


def _claim(name: str, ratios: list[float], version: str, device: str) -> Claim:
    unit = "ratio of throughput, second directory over first, paired by seed"
    claim = reported(
        f"{name}_second_over_first", SOURCE, unit, ratio_interval(ratios), engine=version, device=device
    )
    return decided(claim, low=1 - MATTERS, high=1 + MATTERS)


def _engine(directory: str, opened: ExitStack) -> EmbeddedEngine:
    own = opened.enter_context(tempfile.TemporaryDirectory(prefix="rocktune-benchmark-", dir=directory))
    return EmbeddedEngine(Path(own) / "data", memory_limit_bytes=8 << 30, disk_limit_bytes=0)


def _chosen(settings: Settings) -> dict[str, tuple[Experiment, Configuration]]:
    """Returns the space's default on a load, and on another one the default and some with small blocks."""
    write_heavy = experiment_of(WRITE_HEAVY, "ssd-100mb", settings.scale)
    setup = SETUPS[_SEARCHED]
    updates = experiment_of(setup.workload, setup.device, settings.scale, NEAR)
    drawn = updates.space.sample(_DRAWN, np.random.default_rng(settings.seed))
    return {
        WRITE_HEAVY: (write_heavy, write_heavy.space.default()),
        _SEARCHED: (updates, updates.space.default()),
        **{f"{_SEARCHED}_drawn_{number}": (updates, each) for number, each in enumerate(drawn, 1)},
    }


if __name__ == "__main__":
    main("rocktune.file_systems", file_systems, scale=256, extra={"directories": "/var/tmp,/dev/shm"})
