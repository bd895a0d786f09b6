"""Options that change under load: the time until they are in force, bad files, and what is left behind."""

import tempfile
from pathlib import Path
from typing import Any

from benchmarks.common.claims import (
    ROOT,
    Claim,
    Measured,
    Settings,
    decided,
    exactly,
    main,
    median_spread,
    reported,
)
from benchmarks.common.programs import find_program, json_of
from benchmarks.common.tables import write_csv

PROGRAM = "options_watcher_bench"
SOURCE = "options that change under load"
MOST_S = 2.0
MOST_HEAP_BYTES = 1024
"""Growth of the heap for each file; two measurements of the same store differ by some 100 KiB in all."""
FILES = {"changes": 50, "bad": 1000, "alternating": 200}
QUICK_FILES = {"changes": 4, "bad": 44, "alternating": 20}


def options_watcher(settings: Settings) -> list[Claim]:
    """Runs options_watcher_bench: 50 valid files, 1,000 bad ones and 200 that alternate."""
    program = find_program(PROGRAM, ROOT)
    files = QUICK_FILES if settings.quick else FILES
    with tempfile.TemporaryDirectory(prefix="rocktune-watcher-") as folder:
        found = json_of(program, [str(Path(folder) / "db"), *map(str, files.values())])
    if settings.out is not None:
        write_csv(settings.out / "changes.csv", [{"seconds": each} for each in found["valid"]["seconds"]])
    return claims_of(found, files)


def claims_of(found: dict[str, Any], files: dict[str, int]) -> list[Claim]:
    """Returns the claims for a document of the program.

    Args:
        found: the document.
        files: how many files of each kind the program was given.
    """
    valid, bad, alternating = found["valid"], found["bad"], found["alternating"]

    def claim(name: str, unit: str, measured: Measured) -> Claim:
        return reported(
            name, SOURCE, unit, measured, engine=f"RocksDB {found['rocksdb_version']}", device="none"
        )

    heap = exactly(alternating["heap_bytes"] / files["alternating"], files["alternating"])
    claims = [
        decided(claim("valid_files_applied", "files", exactly(valid["applied"])), low=files["changes"]),
        decided(claim("failed_operations", "operations", exactly(found["failed"])), high=0),
        decided(claim("bad_files_refused", "files", exactly(bad["refused"])), low=files["bad"]),
        decided(claim("bad_files_that_changed_options", "files", exactly(bad["changed"])), high=0),
        decided(
            claim("alternating_files_applied", "files", exactly(alternating["applied"])),
            low=files["alternating"],
        ),
        decided(claim("heap_growth", "bytes per alternating file", heap), high=MOST_HEAP_BYTES),
        decided(claim("descriptor_growth", "descriptors", exactly(alternating["descriptors"])), high=0),
        claim("files_in_write_stops", "files", exactly(valid["in_write_stops"])),
        claim("operations", "operations", exactly(found["operations"])),
    ]
    # A few files of a smoke run on a busy machine may all have met a write stop, which is not timed.
    if valid["seconds"]:
        seconds = claim("valid_file_in_force", "s; median [min, max]", median_spread(valid["seconds"]))
        claims.insert(0, decided(seconds, high=MOST_S))
    return claims


if __name__ == "__main__":
    main("rocktune.options_watcher", options_watcher, scale=1, quick_scale=1)
