"""The cost of merges in pieces, by counted I/O: the same entries with pieces of several sizes and without.

Nothing runs while entries are written: the store settles after each flush, so that the counts do not depend
on the machine. What matters is 2% of the written bytes. `--bandwidth` measures stalls instead, on a device of
so many MB/s that is never idle.
"""

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.common.claims import ROOT, Claim, Settings, decided, main, ratio_interval, reported
from benchmarks.common.programs import find_program, json_of
from benchmarks.common.tables import write_csv
from benchmarks.flsm.shared import Where

PROGRAM = "flsm_pieces_bench"
SOURCE = "merges in pieces"
POLICIES = (1, 3, 10)
"""K of every level; T = 10."""
DEFAULT, WHOLE = 0, 1_000_000
"""Tables of a piece: the store's default, and more than the store has."""
TABLES = (WHOLE, 25, 50, 100, 200, DEFAULT)
MOST = 1.02
FIGURES = {
    "written": "all_written_bytes",
    "read": "read_bytes",
    "largest_job": "max_job_bytes",
    "tables": "mean_tables",
    "runs": "mean_runs",
}
"""The claims of the default, and the figures that they compare. Other sizes have the first alone."""


def pieces(settings: Settings) -> list[Claim]:
    """Runs each policy with each size; `--megabytes`, `--repeats` and `--bandwidth` set how."""
    program = find_program(PROGRAM, ROOT)
    repeats = 2 if settings.quick else int(settings.extra["repeats"])
    megabytes = 4 if settings.quick else int(settings.extra["megabytes"])
    tables = (WHOLE, 10, DEFAULT) if settings.quick else TABLES
    bandwidth = int(settings.extra["bandwidth"])
    rows: list[dict[str, Any]] = []
    for seed in range(settings.seed, settings.seed + repeats):
        for policy in POLICIES:
            rows += [_row(program, policy, size, megabytes, seed, bandwidth) for size in tables]
            settings.say(f"seed {seed}, K = {policy}")
    if settings.out is not None:
        write_csv(settings.out / "runs.csv", rows)
    where = Where(
        f"RocksDB {rows[0]['engine']}, assertions {'on' if rows[0]['assertions'] else 'off'}",
        f"{bandwidth} MB/s" if bandwidth else "none",
    )
    claims: list[Claim] = []
    for policy in POLICIES:
        of_policy = [row for row in rows if row["policy"] == policy]
        for size in tables[1:]:
            claims += _claims(of_policy, policy, size, where)
    return claims


def _row(program: Path, policy: int, size: int, megabytes: int, seed: int, bandwidth: int) -> dict[str, Any]:
    arguments = [policy, size, megabytes, seed] + ([bandwidth] if bandwidth else [])
    with tempfile.TemporaryDirectory(prefix="rocktune-benchmark-") as directory:
        found = json_of(program, [str(Path(directory) / "store"), *map(str, arguments)])
    return {
        "policy": policy,
        "tables": size,
        "megabytes": megabytes,
        "seed": seed,
        "all_written_bytes": found["flushed_bytes"] + found["written_bytes"],
        "max_job_tables": found["max_job_bytes"] / found["table_bytes"],
    } | found


def _claims(rows: list[dict[str, Any]], policy: int, size: int, where: Where) -> list[Claim]:
    name = f"k{policy}_{'default' if size == DEFAULT else f'{size}_tables'}"
    claims = []
    for short, figure in list(FIGURES.items())[: None if size == DEFAULT else 1]:
        cut, whole = ([row[figure] for row in rows if row["tables"] == each] for each in (size, WHOLE))
        ratio = ratio_interval([one / other for one, other in zip(cut, whole, strict=True)])
        claim = reported(f"{name}_{short}", SOURCE, "ratio to whole levels", ratio, **asdict(where))
        is_target = size == DEFAULT and short == "written"
        claims.append(decided(claim, high=MOST) if is_target else claim)
    return claims


if __name__ == "__main__":
    main(
        "flsm.pieces",
        pieces,
        scale=1,
        quick_scale=1,
        extra={"megabytes": 100, "repeats": 3, "bandwidth": 0},
    )
