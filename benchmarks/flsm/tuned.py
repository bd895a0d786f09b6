"""Compares a tuned FLSM store with the best tuned stock RocksDB.

The same tuner searches the FLSM store's space, leveled and universal compaction, with equal memory, device
and budget. Then the winners run in turns; if a winner is no better in the proof, the search's starting point
runs instead. An interrupted run continues with the same `--ledger`. With `--turns 0` it only searches, so
that several `--workloads` can be searched at once on a device that leaves processors idle. Their winners run
alone afterwards.
"""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.common.claims import Claim, Settings, main, ratio_interval
from benchmarks.common.measuring import Teller, embedded_engine, experiment_of, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import Where, decided_at
from rocktune import api
from rocktune.engine import EmbeddedEngine
from rocktune.trial import Configuration
from rocktune.units import format_scale, parse_bytes

SOURCE = "the tuned store against tuned RocksDB"
WORKLOADS = ("ruskey-read-heavy", "ruskey-balanced", "ruskey-write-heavy")
FLSM = "flsm"
_HERE = Path(__file__).parent
SPACES = {name: str(_HERE / f"{name}.toml") for name in (FLSM, "leveled", "universal")}
SMALL = """
name = "small"
keys = 2_000_000
preload = { keys = 2_000_000 }
sessions = [{ mix = { get = 0.5, put = 0.5 } }]
"""
"""A quick run's workload."""
LEAST = 0.97
SEARCH = {
    "time_points_s": [1200.0, 2400.0, 3600.0],
    "features": ["write_buffer_full_frequency"],
    "sampling": "random",
}
"""Configurations at random, the better half of which goes on, twice: Dremel's features are about leveled
compaction, and what knows more of one space than of the others would favour it."""
BUDGET_S = 66_000
"""31 configurations. With a third of these ages what won where most operations write were policies that owed
their merges: 0.6 times the baseline when they were run again."""
AGE_S = 2400.0
"""Seconds of a run of the verification."""
QUICK_S = 120.0
WARM_S, MEASURED_S = 1200.0, 2400.0
"""Seconds of a winner's run. All these times are at full size."""

Throughputs = Mapping[str, Mapping[str, Sequence[float]]]
"""By workload and space, one a turn."""


def tuned(settings: Settings) -> list[Claim]:
    """Tunes each space for each workload, then runs the winners `--turns` times."""
    turns = 2 if settings.quick else int(settings.extra["turns"])
    throughputs: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as scratch, processors_awake():
        small = Path(scratch) / "small.toml"
        small.write_text(SMALL)
        workloads = (str(small),) if settings.quick else tuple(str(settings.extra["workloads"]).split(","))
        winners = {
            (workload, space): _winner(settings, workload, space, Path(scratch))
            for workload in workloads
            for space in SPACES
        }
        if turns == 0:
            return []
        with embedded_engine() as engine:
            for workload in workloads:
                own = throughputs.setdefault(workload, {space: [] for space in SPACES})
                for turn in range(turns):
                    for space in SPACES:
                        settings.say(f"{workload}, {space}, turn {turn + 1} of {turns}")
                        winner = winners[workload, space]
                        own[space].append(_throughput(settings, engine, workload, space, winner, turn))
            where = Where(engine.version, str(settings.extra["device"]))
    _write(settings, winners, throughputs)
    ratios = {workload: _over_stock(each) for workload, each in throughputs.items()}
    claims = [_against_stock(workload, *each, where) for workload, each in ratios.items()]
    return [*claims, _above_somewhere(ratios, where)]


def _winner(settings: Settings, workload: str, space: str, scratch: Path) -> Configuration:
    budget_s, age_s = (QUICK_S, QUICK_S) if settings.quick else (BUDGET_S, AGE_S)
    name = f"tuned-{Path(workload).stem}-{space}"
    found = api.tune(
        workload=workload,
        space=SPACES[space],
        # Of the three spaces the steady protocol knows only two.
        protocol="short",
        tuner="random" if settings.quick else "dremel",
        tuner_settings={} if settings.quick else SEARCH,
        device=str(settings.extra["device"]),
        scale=format_scale(settings.scale),
        budget=f"{budget_s / settings.scale}s",
        memory=str(settings.extra["memory"]),
        seed=settings.seed,
        study=name,
        ledger=str(settings.extra["ledger"]) or str(scratch / "ledger.sqlite"),
        out=scratch / name,
        observer=Teller(settings, name),
        verification={"ablation_pairs": 0, "prune_attempts": 0, "pairs": 6, "age_s": age_s},
    )
    # Whichever of the two did better in the proof, so that no space has less than its search has found.
    is_better = (found.ratio.value or 0) > 1
    better = found.best if found.best is not None and is_better else found.baseline
    return Configuration(better.configuration)


def _throughput(
    settings: Settings,
    engine: EmbeddedEngine,
    workload: str,
    space: str,
    winner: Configuration,
    turn: int,
) -> float:
    memory_bytes = parse_bytes(str(settings.extra["memory"]), "memory")
    device = str(settings.extra["device"])
    experiment = experiment_of(workload, device, settings.scale, SPACES[space], memory_bytes)
    # Bases are draws: each turn has its own.
    run = engine.open(replace(experiment, base_seed=1 + turn), winner, settings.seed + 1000 + turn)
    try:
        run.advance(WARM_S / settings.scale)
        window = run.advance((WARM_S + MEASURED_S) / settings.scale)
    finally:
        run.close()
    return window.figures["throughput_ops_s"]


def _over_stock(throughputs: Mapping[str, Sequence[float]]) -> tuple[str, list[float]]:
    """Returns RocksDB's better style, and the FLSM store's throughput over it in each turn."""
    stock = max((space for space in SPACES if space != FLSM), key=lambda space: np.mean(throughputs[space]))
    return stock, [own / other for own, other in zip(throughputs[FLSM], throughputs[stock], strict=True)]


def _against_stock(workload: str, stock: str, ratios: Sequence[float], where: Where) -> Claim:
    return decided_at(
        f"tuned_flsm_on_{Path(workload).stem.removeprefix('ruskey-').replace('-', '_')}",
        SOURCE,
        f"ratio of throughput to {stock} compaction, the better of RocksDB's own",
        ratio_interval(list(ratios)),
        low=LEAST,
        where=where,
    )


def _above_somewhere(ratios: Mapping[str, tuple[str, Sequence[float]]], where: Where) -> Claim:
    best = max(ratios, key=lambda workload: np.mean(ratios[workload][1]))
    return decided_at(
        "tuned_flsm_where_it_is_best",
        SOURCE,
        f"ratio of throughput to the better of RocksDB's own on {Path(best).stem}",
        ratio_interval(list(ratios[best][1])),
        low=1.0,
        where=where,
    )


def _write(
    settings: Settings, winners: Mapping[tuple[str, str], Configuration], throughputs: Throughputs
) -> None:
    if settings.out is None:
        return
    rows: list[dict[str, Any]] = [
        {
            "workload": workload,
            "space": space,
            "turn": turn,
            "throughput_ops_s": f"{value:.6g}",
            "configuration": winners[workload, space].key,
        }
        for workload, each in throughputs.items()
        for space, values in each.items()
        for turn, value in enumerate(values)
    ]
    write_csv(settings.out / "turns.csv", rows)


if __name__ == "__main__":
    main(
        "flsm.tuned",
        tuned,
        scale=256,
        quick_scale=512,
        extra={
            "device": "cloud-gp3",
            "memory": "512MiB",
            "workloads": ",".join(WORKLOADS),
            "turns": 6,
            "ledger": "",
        },
    )
