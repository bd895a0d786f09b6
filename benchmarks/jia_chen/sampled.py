"""Judges the intervals of figures 5 and 6: samples of the exhaustive table against the table.

Figures 5, 6 and 9 come from samples of 540 of 2,160 configurations. Here such samples are drawn from the
exhaustive table, and their intervals are compared with the figures of the whole table. An interval of 95%
misleads if fewer than 85% of samples contain the figure. The share's whole interval has to lie above that.
So 40 samples could not decide: 39 of them would have to contain the figure, and even for intervals of exactly
95% the chance of that is 0.4. Of 200 samples 180 have to. The chance is 0.96 if 93% of the intervals contain
the figure, and 0.025 if 85% do. The table's own figures err too, and a quarter of the table is in each
sample, which makes the check somewhat easy.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.common.claims import Claim, Settings, decided, main, reported, share_of
from benchmarks.jia_chen.extremes import latency_there, max_latency, max_throughput, min_latency, spaces
from benchmarks.jia_chen.noise import NoiseModel, Reals
from benchmarks.jia_chen.shared import DEFAULT_TABLE, Recorded, made_up, one_run_each
from benchmarks.jia_chen.tables import SAMPLES
from rocktune.table import read_table

MIN_COVERAGE = 0.85
EXTREMES: tuple[Callable[[Reals], Reals], ...] = (max_throughput, latency_there, min_latency, max_latency)


def sampled(settings: Settings) -> list[Claim]:
    """Counts how often intervals of `--samples` samples contain the whole table's figures."""
    whole = (
        made_up() if settings.quick else one_run_each("exhaustive", read_table(Path(settings.extra["table"])))
    )
    samples, draws = (
        (2, 4) if settings.quick else (int(settings.extra[each]) for each in ("samples", "draws"))
    )
    known = spaces(NoiseModel(whole), draws, settings.seed)
    truths = [known.interval(extreme).value for extreme in EXTREMES]
    hits = np.zeros(len(EXTREMES), dtype=int)
    for number in range(samples):
        found = spaces(NoiseModel(_sample(whole, settings.seed + number)), draws, settings.seed)
        intervals = [found.interval(extreme) for extreme in EXTREMES]
        hits += [each.low <= truth <= each.high for each, truth in zip(intervals, truths, strict=True)]
    counts: list[int] = hits.tolist()
    return [
        decided(
            reported(
                f"samples_that_contain_{extreme.__name__}",
                "samples of 540: their intervals",
                "share of the samples whose 95% interval contains the whole table's figure",
                share_of(hit, samples),
                engine=whole.conditions.engine,
                device=whole.conditions.device.name,
            ),
            low=MIN_COVERAGE,
        )
        for extreme, hit in zip(EXTREMES, counts, strict=True)
    ]


def _sample(whole: Recorded, seed: int) -> Recorded:
    measured = list(whole.rows)
    chosen = np.random.default_rng(seed).choice(len(measured), SAMPLES, replace=False)
    return replace(whole, rows={measured[place]: whole.rows[measured[place]] for place in sorted(chosen)})


if __name__ == "__main__":
    main("jia_chen.sampled", sampled, extra={"table": DEFAULT_TABLE, "samples": 200, "draws": 60})
