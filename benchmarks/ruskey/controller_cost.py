"""What the cost controller takes from the program that it runs in: CPU time, locks and allocations.

The CPU time is that of the controller's thread by its own clock, over wall time at full speed. The pilot
gives the thread at most a 500th of a processor, so more load on the machine does not change the bound. Locks
and allocations are those of the thread that calls get and put, with and without a controller.
"""

import tempfile
from typing import Any

from benchmarks.common.claims import ROOT, Claim, Settings, decided, exactly, main, reported
from benchmarks.common.programs import find_program, json_of
from benchmarks.common.tables import write_csv

PROGRAM = "adaptive_serving_bench"
SOURCE = "the cost controller in a program"
MAX_SHARE = 0.002
PATHS = ("get", "put")
COUNTS = ("locks", "allocations")


def controller_cost(settings: Settings) -> list[Claim]:
    """Runs the program once: `--seconds` at full speed for each length of missions, then the counts."""
    seconds = 2 if settings.quick else float(settings.extra["seconds"])
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as directory:
        found = json_of(find_program(PROGRAM, ROOT), [directory, str(seconds)])
    if settings.out is not None:
        write_csv(settings.out / "cpu.csv", found["cpu"])
        write_csv(settings.out / "counts.csv", _rows(found))
    engine = f"RocksDB {found['engine']}, assertions {'on' if found['assertions'] else 'off'}"
    shares = [
        decided(
            reported(
                f"controller_cpu_share_missions_of_{cpu['mission_operations']}",
                SOURCE,
                "share of one processor",
                exactly(cpu["controller_cpu_s"] / cpu["seconds"]),
                engine=engine,
                device="none",
            ),
            high=MAX_SHARE,
        )
        for cpu in found["cpu"]
    ]
    counts = [
        decided(
            reported(
                f"{counted}_of_the_controller_in_{path}",
                SOURCE,
                f"{counted} in {found[path]['operations']} operations, with a controller minus without",
                exactly(found[path]["adaptive"][counted] - found[path]["flsm"][counted]),
                engine=engine,
                device="none",
            ),
            low=0,
            high=0,
        )
        for path in PATHS
        for counted in COUNTS
    ]
    return [*shares, *counts]


def _rows(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "path": path,
            "store": store,
            "operations": found[path]["operations"],
            **{counted: found[path][store][counted] for counted in COUNTS},
        }
        for path in PATHS
        for store in ("flsm", "adaptive")
    ]


if __name__ == "__main__":
    main("ruskey.controller_cost", controller_cost, scale=1, quick_scale=1, extra={"seconds": 60.0})
