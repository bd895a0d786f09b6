"""Formulas in place of measured runs, for smoke runs and tests."""

import math
from dataclasses import replace

import numpy as np

from benchmarks.alabed.modelled import THROUGHPUT
from benchmarks.alabed.setups import NEAR, SPACE, Sampled
from rocktune.space import Configuration, load_space
from rocktune.study import seeds
from rocktune.table import Table, TableRow
from rocktune.trial import FIGURES, Status


def made_up_runs(of: Sampled, drawn: int = 140, near: int = 40, noise: float = 0.03) -> Sampled:
    """Returns as many runs by formulas, under the conditions of measured ones.

    Args:
        of: the measured runs.
        drawn: number of configurations drawn from the whole space.
        near: number of configurations with small blocks.
        noise: standard deviation of the logarithms of a run's figures.
    """
    rng = np.random.default_rng(1)
    return Sampled(_table(of.drawn, SPACE, drawn, noise, rng), _table(of.near, NEAR, near, noise, rng))


def _table(of: Table, space_name: str, count: int, noise: float, rng: np.random.Generator) -> Table:
    space = load_space(space_name, int(of.conditions.memory_bytes), 1e7)
    runs = [(each, 0) for each in space.sample(count, rng)]
    runs += [(space.default(), seeds.CONTROL + number) for number in range(count // 20)]
    rows = tuple(
        TableRow(each, replicate, Status.OK, "", _figures(each, math.exp(rng.normal(0, noise))))
        for each, replicate in runs
    )
    return replace(of, rows=rows)


def _figures(configuration: Configuration, luck: float) -> dict[str, float]:
    """Returns figures for which small blocks, large memtables and late compactions are good."""
    block, buffer = float(configuration["block_size"]), float(configuration["write_buffer_size"])
    merged = float(configuration["min_write_buffer_number_to_merge"])
    trigger = float(configuration["level0_file_num_compaction_trigger"])
    flushed = min(buffer * merged / 4.8e9, 1.0)
    throughput = luck * 2e4 * (1 + 2 * flushed**0.5) * (1 + trigger / 512) / (1 + block / 2e5)
    return dict.fromkeys(FIGURES, math.nan) | {
        THROUGHPUT: throughput,
        "read_latency_us_p99": luck * (100 + block / 100),
        "write_amplification": 1.2 + 3 * (1 - flushed) / luck,
        "read_block_get_us_p99": luck * (20 + block / 200),
        # Memtables of the largest sizes are not flushed in time for a compaction.
        "level0_to_level1_us_p99": luck * 1e5 * (1 + flushed) if flushed < 0.9 else math.nan,
        "stalled_share": 0.0,
    }
