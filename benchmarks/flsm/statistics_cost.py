"""The cost of an FLSM store's statistics: pairs of runs with and without them, half of them lookups."""

from contextlib import closing
from typing import Any

from benchmarks.common.claims import Claim, Settings, main, ratio_interval
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import RUSKEY, Where, buffer_at, decided_at, layout
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.online.plain import plain_experiment
from rocktune.space import merged_options
from rocktune.trial import Configuration, Experiment
from rocktune.workload import load_workload

SOURCE = "statistics left on"
ON, OFF = 64, 0
DEVICE = "none"
"""A device without limits, so that the processor is the limit; on a slower device the cost is smaller."""
POLICY = 5
MOST = 1.03
_NOTHING = Configuration({})


def statistics_cost(settings: Settings) -> list[Claim]:
    """Runs pairs in alternating order; `--repeats` and `--operations` set how many.

    Both runs of a pair do the same operations on the same store. Stores that were loaded alike differ by more
    than the measured effect. So do different periods of one store's life, since some merge deeper levels.
    """
    repeats = 2 if settings.quick else int(settings.extra["repeats"])
    rows: list[dict[str, Any]] = []
    with processors_awake(), embedded_engine() as engine:
        for turn in range(repeats):
            order = (ON, OFF) if turn % 2 else (OFF, ON)
            rows += [_row(settings, engine, every, turn) for every in order]
            settings.say(f"pair {turn + 1} of {repeats}")
        version = engine.version
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
    return [_claim(rows, name, version) for name in ("operations_s", "cpu_s")]


def _row(settings: Settings, engine: EmbeddedEngine, sample_every: int, turn: int) -> dict[str, Any]:
    operations = 20_000 if settings.quick else int(settings.extra["operations"])
    seed = settings.seed + turn
    # Opened as one kind, whose preloaded store is then there for both.
    with closing(engine.open(_experiment(settings, ON), _NOTHING, seed)) as run:
        engine.reopen(run, _experiment(settings, sample_every), _NOTHING, seed)
        window = run.advance_operations(operations)
    return {
        "turn": turn,
        "sample_every": sample_every,
        "operations_s": operations / (window.until_s - window.from_s),
        "cpu_s": window.raw["cpu_s"],
    }


def _experiment(settings: Settings, sample_every: int) -> Experiment:
    options = merged_options(RUSKEY, buffer_at(settings.scale), layout([POLICY], sample_every=sample_every))
    return plain_experiment(
        load_workload("ruskey-balanced"), load_device(DEVICE), settings.scale, options, settings.seed
    )


def _claim(rows: list[dict[str, Any]], figure: str, version: str) -> Claim:
    on, off = ([row[figure] for row in rows if row["sample_every"] == every] for every in (ON, OFF))
    if figure == "operations_s":
        on, off = off, on  # larger is better
    ratio = ratio_interval([with_it / without for with_it, without in zip(on, off, strict=True)])
    name = {"operations_s": "throughput_without_over_with", "cpu_s": "cpu_with_over_without"}[figure]
    return decided_at(f"statistics_{name}", SOURCE, "ratio", ratio, high=MOST, where=Where(version, DEVICE))


if __name__ == "__main__":
    main(
        "flsm.statistics_cost",
        statistics_cost,
        scale=256,
        quick_scale=2048,
        extra={"repeats": 20, "operations": 400_000},
    )
