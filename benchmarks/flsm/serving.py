"""Gets and puts of an FLSM store beside stock RocksDB on a copy of the same tables, in pairs of CPU times.

What matters is a store that loses at most 3% on either path. CPU time of one calling thread is the quieter
quantity: with other work running, wall times of such blocks differ by tens of percent. Each process has
stores, caches and addresses of its own, which shift its ratio by 2%; 16 processes give an interval of 1% on
each side. So an interval is over processes, not over the pairs of one.
"""

import math
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.common.claims import ROOT, Claim, Settings, main, ratio_interval
from benchmarks.common.programs import find_program, json_of
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import Where, decided_at

PROGRAM = "flsm_serving_bench"
SOURCE = "serving beside stock RocksDB"
LEAST = 0.97
PATHS = ("get", "put")


def serving(settings: Settings) -> list[Claim]:
    """Runs `--processes` processes, each of which alternates `--pairs` blocks of both databases."""
    processes, pairs = (
        (2, 2) if settings.quick else (int(settings.extra[name]) for name in ("processes", "pairs"))
    )
    rows: list[dict[str, Any]] = []
    found: dict[str, Any] = {}
    for process in range(processes):
        with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as directory:
            found = json_of(find_program(PROGRAM, ROOT), [str(Path(directory) / "store"), str(pairs)])
        rows += [
            {"process": process, "path": path, "pair": number, "flsm_ns": flsm_ns, "stock_ns": stock_ns}
            for path in PATHS
            for number, (flsm_ns, stock_ns) in enumerate(found[path])
        ]
        settings.say(f"{process + 1} of {processes} processes")
    if settings.out is not None:
        write_csv(settings.out / "pairs.csv", rows)
    assertions = "on" if found["assertions"] else "off"
    where = Where(f"RocksDB {found['engine']}, assertions {assertions}", "none")
    return [_claim(path, rows, where) for path in PATHS]


def _claim(path: str, rows: list[dict[str, Any]], where: Where) -> Claim:
    logarithms: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        if row["path"] == path:
            logarithms[row["process"]].append(math.log(row["stock_ns"] / row["flsm_ns"]))
    ratios = [math.exp(statistics.fmean(of_process)) for of_process in logarithms.values()]
    name = f"{path}_over_stock_rocksdb"
    return decided_at(name, SOURCE, "ratio of rates", ratio_interval(ratios), low=LEAST, where=where)


if __name__ == "__main__":
    main("flsm.serving", serving, scale=1, quick_scale=1, extra={"processes": 16, "pairs": 12})
