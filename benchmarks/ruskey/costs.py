"""The costs of operations on the store, for long experiments on a modelled one.

Costs are fitted to few and many runs, with few and many bits of filters. Policies in between, which were not
fitted, test the model.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from benchmarks.common.claims import Claim, Measured, Settings, exactly, main, reported
from benchmarks.common.measuring import embedded_engine
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import ENTRY_BYTES, Where, buffer_at, decided_at
from benchmarks.ruskey.driver import SIZE_RATIO, STORE_FLAGS, Driver, setting_of
from rocktune.online.control.mission import Mission
from rocktune.online.fitting import fitted_costs
from rocktune.online.modelled import ModelledStore, StoreCosts
from rocktune.workload import load_workload

SOURCE = "costs fitted on the store"
WORKLOADS = {"ruskey-read-heavy": 0.9, "ruskey-balanced": 0.5, "ruskey-write-heavy": 0.1}
"""Shares of lookups."""
FITTED, HELD_OUT = (1, 10), (3, 5)
"""Policies."""
FEW_BITS, BITS = 4.0, 8.0
WITHIN = 0.25


def costs(settings: Settings) -> list[Claim]:
    """Drives the store, fits the costs, and drives policies that were not fitted; `--device` sets where."""
    base = setting_of(settings)
    workloads = tuple(WORKLOADS)[: 2 if settings.quick else None]
    with embedded_engine() as engine:

        def served(policy: int, workload: str, bits: float) -> list[Mission]:
            setting = replace(base, bits_per_key=bits)
            sessions = [(workload, 60 if settings.quick else int(settings.extra["missions"]))]
            done = Driver(settings, setting, engine).drive(f"static:{policy}", sessions, settings.seed)
            settings.say(f"K = {policy}, {workload}, {bits:g} bits: {done[-1].latency_us:.0f} us")
            # The first half brings the tree into a state that lasts.
            return [each.statistics for each in done[len(done) // 2 :] if each.statistics is not None]

        where = Where(engine.version, base.device)
        fitted = {
            (policy, workload, bits): served(policy, workload, bits)
            for policy in FITTED
            for workload in workloads
            for bits in (FEW_BITS, BITS)
        }
        found = fitted_costs(list(fitted.values()), absent=base.absent)
        held_out = {
            (policy, workload, BITS): served(policy, workload, BITS)
            for policy in HELD_OUT[: 1 if settings.quick else None]
            for workload in workloads
        }
    rows = [
        _row(settings, base.absent, found, *place, missions)
        for place, missions in (fitted | held_out).items()
    ]
    if settings.out is not None:
        settings.out.mkdir(parents=True, exist_ok=True)
        (settings.out / "costs.json").write_text(json.dumps(asdict(found), indent=1) + "\n", "utf-8")
        write_csv(settings.out / "latencies.csv", rows)
    found_costs = [
        reported(name, SOURCE, "s; of the noise, of a logarithm", exactly(value), **asdict(where))
        for name, value in asdict(found).items()
    ]
    return [*found_costs, *(_near(row, where) for row in rows if row.policy in HELD_OUT)]


@dataclass(frozen=True)
class Row:
    """The cost of operations on the store and on a modelled store of the same shape."""

    policy: int
    workload: str
    bits_per_key: float
    measured_us: float
    modelled_us: float


def _near(row: Row, where: Where) -> Claim:
    name = f"K{row.policy}_{row.workload}_modelled_over_measured"
    value = row.modelled_us / row.measured_us
    ratio = Measured(value, value, value, 1)
    low, high = 1 - WITHIN, 1 + WITHIN
    return decided_at(name, SOURCE, "ratio of latency", ratio, low=low, high=high, where=where)


def _row(
    settings: Settings,
    absent: bool,
    found: StoreCosts,
    policy: int,
    workload: str,
    bits: float,
    missions: Sequence[Mission],
) -> Row:
    store = ModelledStore(
        found,
        entries=load_workload(workload).keys // settings.scale,
        entry_bytes=ENTRY_BYTES,
        policies=[policy],
        size_ratio=SIZE_RATIO,
        bits_per_key=bits,
        absent=absent,
        write_buffer_bytes=int(buffer_at(settings.scale)["cf"]["write_buffer_size"]) // settings.scale,
        seed=settings.seed,
    )
    operations = missions[0].operations
    modelled = [store.serve(operations, WORKLOADS[workload]) for _ in range(2 * len(missions))]
    return Row(policy, workload, bits, _latency_us(missions), _latency_us(modelled[len(missions) :]))


def _latency_us(missions: Sequence[Mission]) -> float:
    return sum(each.busy_s for each in missions) / sum(each.operations for each in missions) * 1e6


if __name__ == "__main__":
    main(
        "ruskey.costs",
        costs,
        scale=128,
        quick_scale=2048,
        extra=STORE_FLAGS | {"missions": 400},
    )
