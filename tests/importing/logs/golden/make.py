"""Makes the LOG files of this directory by running db_bench, or a program in Java, and shortens them.

    python tests/importing/logs/golden/make.py DB_BENCH NAME
    python tests/importing/logs/golden/make.py rocksdbjni-5.18.4.jar NAME

Leaves out options of compression and BlobDB, deletions of files, properties of tables, buckets of histograms,
messages about the course of flushes, and most of RocksDB's counters.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
ARGUMENTS = (
    "--benchmarks=fillrandom,stats --num=5500 --value_size=400 --num_column_families=2 "
    "--compression_type=none --write_buffer_size=262144 --target_file_size_base=262144 "
    "--max_bytes_for_level_base=1048576 --level0_file_num_compaction_trigger=2 "
    "--level0_slowdown_writes_trigger=3 --level0_stop_writes_trigger=6 "
    "--rate_limiter_bytes_per_sec=700000 --stats_dump_period_sec=2 --statistics --threads=1"
)
NOISE = re.compile(
    r"supported: 0$|compression_|Compression |_blob_|universal|table_file_deletion|Deleted file"
    r"|Try to delete WAL|Syncing log|commit flush result|Calling FlushMem|New memtable"
    r"|Generated table|: started *$|Shutdown|Level-0 commit table|Compacting [0-9]"
    r"|Compaction start summary"
)
WANTED = re.compile(r"rocksdb\.(block\.cache|bytes\.|stall|db\.|number\.keys|compaction\.times)")


def main(program: str, name: str) -> None:
    """Writes NAME.log and what the program printed, NAME.txt."""
    with tempfile.TemporaryDirectory() as directory:
        database = f"{directory}/db"
        if program.endswith(".jar"):
            command = ["java", "-cp", program, str(HERE / "MakeLog.java"), database]
        else:
            command = [program, f"--db={database}", *ARGUMENTS.split()]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        text = Path(database, "LOG").read_text().replace(directory, "/data")
    (HERE / f"{name}.log").write_text(shortened(text))
    # Without what db_bench prints about its own progress.
    wanted = printed[max(0, printed.find("fillrandom ")) :].replace(directory, "/data")
    (HERE / f"{name}.txt").write_text("\n".join(wanted.splitlines()[:70]) + "\n")


def shortened(text: str) -> str:
    """Returns a LOG without the lines that take much space and say little."""
    lines = re.sub(r', "table_properties": \{.*?\}', "", text).splitlines()
    last = max((at for at, line in enumerate(lines) if line.endswith("STATISTICS:")), default=0)
    kept = [
        line
        for at, line in enumerate(lines)
        if not NOISE.search(line)
        and not re.match(r"[\[(] +\d+, +\d+ [\])]", line)
        and (not line.startswith("rocksdb.") or (at > last and WANTED.match(line)))
    ]
    return "\n".join(kept) + "\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
