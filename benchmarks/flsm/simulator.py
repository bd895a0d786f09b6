"""Compares the bytes that simulator and store write, with five policies at small size."""

from typing import Any

from benchmarks.common.claims import Claim, Settings, exactly, main
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import (
    BUFFER_BYTES,
    RUSKEY,
    SIZE_RATIO,
    Where,
    decided_at,
    layout,
    sorted_runs,
)
from rocktune.device import load_device
from rocktune.engine import EmbeddedEngine
from rocktune.online import FlsmSimulator, MissionLoad, run_missions
from rocktune.space import merged_options
from rocktune.workload import WorkloadSpec
from rocktune.workload.arrival import ArrivalSpec
from rocktune.workload.distributions import SizeSpec
from rocktune.workload.loads import MixSpec
from rocktune.workload.sessions import SessionSpec

SOURCE = "simulator within 10%"
POLICIES = {
    "aggressive": [1],
    "moderate": [5],
    "lazy": [10],
    "lazy-then-leveling": [10, 10, 1],
    "mixed": [3, 5, 2],
}
"""K of each level from the first; the last one counts for all deeper ones."""
KEYS = 1_000_000_000
WRITES_S = 2_000
"""Slow enough that compactions keep up, as they do in the simulator."""
WITHIN = 0.1


def simulator(settings: Settings) -> list[Claim]:
    """Writes new entries into a store of each policy, and the same bytes into a simulator."""
    written = 4_000 if settings.quick else int(settings.extra["writes"])
    claims, rows = [], []
    with embedded_engine() as engine:
        for name, policies in POLICIES.items():
            row = _row(settings, engine, name, policies, written)
            rows.append(row)
            settings.say(f"{name}: store {row['store']:.2f}, simulator {row['simulator']:.2f}")
            ratio = exactly(row["simulator"] / row["store"])
            claims.append(
                decided_at(
                    f"{name}_simulated_over_measured", SOURCE, "ratio", ratio, low=1 - WITHIN,
                    high=1 + WITHIN, where=Where(engine.version, "none"),
                )
            )  # fmt: skip
    if settings.out is not None:
        write_csv(settings.out / "amplification.csv", rows)
    return claims


def _row(
    settings: Settings, engine: EmbeddedEngine, name: str, policies: list[int], written: int
) -> dict[str, Any]:
    load = MissionLoad(
        workload=_new_entries(),
        device=load_device("none"),
        scale=settings.scale,
        missions=1,
        operations=written * settings.scale,
        options=merged_options(RUSKEY, layout(policies)),
        seed=settings.seed,
    )
    (window,) = run_missions(engine, load)
    bytes_by_cause = window.raw["device_bytes"]
    flushed = int(bytes_by_cause["flush"])
    flushes = max(1, round(flushed / (BUFFER_BYTES / settings.scale)))
    tree = FlsmSimulator(
        policies=policies,
        size_ratio=SIZE_RATIO,
        level1_bytes=SIZE_RATIO * BUFFER_BYTES // settings.scale,
        write_buffer_bytes=flushed // flushes,
    )
    tree.write(flushed)
    return {
        "policy": name,
        "user_bytes": window.raw["user_bytes_written"],
        "flushed_bytes": flushed,
        "store": (flushed + bytes_by_cause["compaction_write"]) / flushed,
        "simulator": tree.write_amplification,
        "store_runs": sorted_runs(window),
        "simulator_runs": tree.shape().runs,
    }


def _new_entries() -> WorkloadSpec:
    return WorkloadSpec(
        name="new entries",
        keys=KEYS,
        key_bytes=128,
        value=SizeSpec(low=896),
        threads=1,
        sessions=(
            SessionSpec(mix=MixSpec(put=1.0), arrival=ArrivalSpec(kind="fixed_rate", operations_s=WRITES_S)),
        ),
    )


if __name__ == "__main__":
    main("flsm.simulator", simulator, scale=32, quick_scale=32, extra={"writes": 100_000})
