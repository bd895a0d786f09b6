"""The cost of a governor with nothing to govern: a store with many reads and few writes."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path

from benchmarks.common.claims import Claim, Settings, main, mean_interval, ratio_interval
from benchmarks.common.measuring import embedded_engine, processors_awake
from benchmarks.common.tables import write_csv
from benchmarks.governor.shared import (
    CALIBRATED_MB_S,
    ENABLED,
    PROPORTIONAL,
    SCALE,
    TOGGLE,
    decided_of,
    interleaved,
    load_of,
    reported_of,
    rows_of,
)
from rocktune.online import GovernedRun
from rocktune.workload import load_workload
from rocktune.workload.loads import MixSpec, PreloadSpec
from rocktune.workload.sessions import SessionSpec

UNTIL_S = 64.0
MOST = 1.03
_SOURCE = "rocktune's own claim"
_PROGRAM = "limiter_bench"


def low_load(settings: Settings) -> list[Claim]:
    """Measures pairs with and without a governor, on one thread with nine gets for each put."""
    repeats = 2 if settings.quick else int(settings.extra["repeats"])
    workload = load_workload("sine")
    light = workload.model_copy(
        update={
            "name": "light",
            "keys": workload.keys // 10,
            "preload": PreloadSpec(keys=workload.keys // 10, random_order=True),
            "sessions": (SessionSpec(mix=MixSpec(get=0.9, put=0.1)),),
        }
    )
    # The same options for all, so that nothing but the governor differs.
    ways = (replace(ENABLED, options=PROPORTIONAL.options), TOGGLE, PROPORTIONAL)
    with processors_awake(), embedded_engine() as engine:
        loads = {way.name: load_of(settings, way, UNTIL_S, read_s=0.0, workload=light) for way in ways}
        runs = interleaved(settings, engine, loads, repeats)
    throughput = {way: [run.whole.figures["throughput_ops_s"] for run in each] for way, each in runs.items()}
    cpu = {way: [run.whole.figures["cpu_s_per_million_ops"] for run in each] for way, each in runs.items()}
    if settings.out is not None:
        rows = rows_of({"throughput_ops_s": throughput, "cpu_s_per_million_ops": cpu})
        write_csv(settings.out / "runs.csv", rows)
    claims = _limiter_claims(settings, repeats, runs)
    for way in (TOGGLE.name, PROPORTIONAL.name):
        slower = ratio_interval(
            [bare / own for bare, own in zip(throughput[ENABLED.name], throughput[way], strict=True)]
        )
        dearer = ratio_interval([own / bare for bare, own in zip(cpu[ENABLED.name], cpu[way], strict=True)])
        claims.append(decided_of(runs, f"throughput_without_over_{way}", _SOURCE, "ratio", slower, most=MOST))
        claims.append(decided_of(runs, f"cpu_of_{way}_over_without", _SOURCE, "ratio", dearer, most=MOST))
    return claims


def _limiter_claims(settings: Settings, repeats: int, runs: dict[str, list[GovernedRun]]) -> list[Claim]:
    """Returns the cost of a call that delays nobody, for RocksDB's limiter and for the governor's."""
    program = Path(os.environ.get("ROCKTUNE_BUILD", "build/tests")) / _PROGRAM
    if not program.is_file():
        settings.say(f"{program} is not there ('make test' builds it): calls of the limiter are left out")
        return []
    found = json.loads(subprocess.check_output([program, "--repeats", str(repeats)], text=True))
    return [
        reported_of(runs, f"ns_per_call_{name}", _SOURCE, "ns", mean_interval(values))
        for name, values in found.items()
    ]


if __name__ == "__main__":
    main(
        "governor.low_load",
        low_load,
        scale=SCALE,
        quick_scale=256,
        extra={"repeats": 20, "device_mb_s": CALIBRATED_MB_S},
    )
