"""The gain of Ray workers, four against one, and the loss when one is killed."""

import os
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.common.claims import (
    Claim,
    Measured,
    Settings,
    decided,
    exactly,
    main,
    median_spread,
    reported,
)
from benchmarks.common.tables import write_csv
from rocktune.errors import UserError
from rocktune.ledger import Ledger, open_ledger
from rocktune.study import Observer, SweepSpec, make_request, resolve_sweep, run_sweep
from rocktune.study.executors.on_ray import opened_cluster
from rocktune.study.executors.ray_lane import RayLane
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.table import Table
from rocktune.testing.executors import response
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration, Result
from rocktune.units import format_scale

TRIAL_S = 1.0
WORKERS = 4
BEGUN_NAME = "begun"
DEVICE = "none: a made-up engine that sleeps 1 s a trial"


def sleeping_engine(log: str) -> SyntheticEngine:
    """Returns an engine whose trials take a second; each appends a byte to a file."""

    def begun(_: Configuration) -> float:
        with Path(log).open("ab") as file:
            file.write(b".")
        return TRIAL_S

    return SyntheticEngine(response, pause_s=begun)


@contextmanager
def cluster_of(nodes: int) -> Iterator[str]:
    """Runs a Ray cluster on this machine with one unit of `rocksdb` per node, and yields its address."""
    try:
        from ray.cluster_utils import Cluster
    except ImportError:
        raise UserError("ray_scaling: Ray is not installed; 'pip install rocktune[ray]'") from None
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        for _ in range(nodes):
            cluster.add_node(num_cpus=1, resources={"rocksdb": 1})
        cluster.wait_for_nodes()
        yield cluster.address
    finally:
        cluster.shutdown()


class _Killing(Observer):
    """A watcher that kills the process of a worker once, in the middle of a trial."""

    def __init__(self, lanes: list[RayLane], after: int) -> None:
        self._lanes = lanes
        self._after = after

    def trial_finished(self, result: Result) -> None:  # noqa: ARG002 - counts
        self._after -= 1
        if self._after == 0:
            import ray

            threading.Timer(TRIAL_S / 2, ray.kill, [self._lanes[-1]._actor]).start()


class _Sweeps:
    """Measures the same sweep repeatedly with different workers."""

    def __init__(self, settings: Settings, scratch: Path, configurations: int) -> None:
        self._settings = settings
        self._scratch = scratch
        self._configurations = configurations
        self.rows: list[dict[str, float | str]] = []

    def run(self, what: str, address: str, kills: bool = False) -> Table:
        """Returns the sweep's table; the row has its wall seconds, without those in which workers start."""
        log = self._scratch / f"{what}-{len(self.rows)}"
        with (
            opened_cluster(partial(sleeping_engine, str(log)), address) as executor,
            open_ledger(f"sqlite:///{log}.sqlite") as ledger,
        ):
            lanes: list[Any] = list(executor.lanes())
            observer = _Killing(lanes, len(lanes)) if kills else Observer()
            began_s = time.monotonic()
            table = run_sweep(self._spec(), executor, ledger, observer)
            wall_s = time.monotonic() - began_s
            recorded = _recorded(ledger)
        row: dict[str, float | str] = {"what": what, "workers": len(lanes), "wall_s": wall_s}
        self.rows.append(row | {"trials": recorded, "begun": log.stat().st_size})
        self._settings.say(f"{what}: {recorded} trials, {len(lanes)} workers, {wall_s:.1f} s")
        return table

    def _spec(self) -> SweepSpec:
        request = make_request(
            {
                "workload": "zipfian",
                "scale": format_scale(self._settings.scale),
                "seed": self._settings.seed,
            }
        )
        return resolve_sweep(request, "sweep", HowToSweep(self._configurations, warm_up="0"))


def _recorded(ledger: Ledger) -> int:
    return len(ledger.trials(ledger.study("sweep")))


def ray_scaling(settings: Settings) -> list[Claim]:
    """Sweeps with one worker, with four, and with four of which one is killed, and compares."""
    configurations, repeats = (7, 1) if settings.quick else (75, 3)
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as scratch:
        sweeps = _Sweeps(settings, Path(scratch), configurations)
        with cluster_of(1) as address:
            one = sweeps.run("one", address)
        with cluster_of(WORKERS) as address:
            several = [sweeps.run("several", address) for _ in range(repeats)]
            killed = [sweeps.run("killed", address, kills=True) for _ in range(repeats)]
    if settings.out is not None:
        write_csv(settings.out / "sweeps.csv", sweeps.rows)

    def column(what: str, name: str) -> list[float]:
        return [float(row[name]) for row in sweeps.rows if row["what"] == what]

    (one_s,) = column("one", "wall_s")
    speedup = median_spread([one_s / wall_s for wall_s in column("several", "wall_s")])
    repeated = [
        begun - trials
        for begun, trials in zip(column("killed", "begun"), column("killed", "trials"), strict=True)
    ]
    lost_s = median_spread(
        [wall_s - min(column("several", "wall_s")) for wall_s in column("killed", "wall_s")]
    )
    differing = sum(table.rows != one.rows for table in (*several, *killed))
    return _claims(speedup, median_spread(repeated), lost_s, exactly(differing, 2 * repeats))


def _claims(speedup: Measured, repeated: Measured, lost_s: Measured, differing: Measured) -> list[Claim]:
    about = {"engine": SyntheticEngine.version, "device": DEVICE}
    source = "distribution"
    return [
        decided(
            reported(
                "four_ray_workers_over_one", source, "ratio of wall time, median [min, max]", speedup, **about
            ),
            low=3.5,
        ),
        decided(
            reported(
                "trials_repeated_for_a_killed_worker", source, "trials, median [min, max]", repeated, **about
            ),
            high=1,
        ),
        reported(
            "wall_time_for_a_killed_worker",
            source,
            "s, median [min, max]; the trial that is repeated, and the start of another worker",
            lost_s,
            **about,
        ),
        decided(
            reported("tables_that_differ_from_one_workers", source, "tables", differing, **about), high=0
        ),
    ]


if __name__ == "__main__":
    main("rocktune.ray_scaling", ray_scaling)
