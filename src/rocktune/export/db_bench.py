"""The db_bench commands with a configuration, and as close as db_bench can come to a workload."""

import shlex
from collections.abc import Mapping

from rocktune.engine.db_bench.flags import plan_of, preload_flags
from rocktune.export.target import Found, Target, commented
from rocktune.space import OptionMaps, options_file_text
from rocktune.workload import WorkloadSpec

SECONDS = 120
"""How long the measured benchmark runs: Dremel's final run (section 5.2.1)."""
_END = "END_OF_OPTIONS"


def db_bench_script(
    options: OptionMaps, rocksdb_version: str, workload: WorkloadSpec, seed: int, header: str
) -> str:
    """Returns a shell script: a db_bench command that loads, where there is a preload, and one that measures.

    db_bench has flags for few options, and defaults of its own for them. So the script writes an OPTIONS
    file, and `--cache_size=0` leaves the block cache to that file too.

    Args:
        options: of the configuration, full size.
        rocksdb_version: of the RocksDB that the options are for.
        workload: full size.
        seed: of db_bench's random numbers.
        header: comment lines to begin with, each with its "#".
    """
    plan = plan_of(workload)
    missing = [f"{gap.feature}: {gap.instead}" for gap in plan.gaps]
    missing.append("the simulated device: it runs on the real one, without limits")
    common = {"cache_size": "0", "seed": str(seed)}
    lines = ["#!/bin/sh", header.rstrip("\n"), "#"]
    lines += [
        "# What db_bench cannot express, and what it does instead:",
        *commented((f"- {line}" for line in missing), "#"),
    ]
    lines += [
        "set -e",
        "scratch=$(mktemp -d)",
        "trap 'rm -rf \"$scratch\"' EXIT",
        "trap 'exit 1' HUP INT TERM   # or sh would not clear up",
        "# The store overwrites what is in the directory DB. Without DB it is removed at the end.",
        'db="${DB:-$scratch/db}"',
        'options="$scratch/OPTIONS"',
        f"cat >\"$options\" <<'{_END}'",
        options_file_text(options, rocksdb_version).rstrip("\n"),
        _END,
        "",
    ]
    measured = {"benchmarks": plan.benchmark, "duration": str(SECONDS)} | plan.flags
    if workload.preload.keys:
        lines += [_command(preload_flags(workload) | common), ""]
        measured["use_existing_db"] = "true"
    lines.append(_command(measured | common | {"histogram": "true", "statistics": "true"}))
    return "\n".join(lines) + "\n"


def _command(flags: Mapping[str, str]) -> str:
    given = [f"--{name}={shlex.quote(value)}" for name, value in flags.items()]
    return " \\\n    ".join(['db_bench --db="$db" --options_file="$options"', *given])


def _write(found: Found) -> str:
    header = "\n".join(commented(found.comment, "#"))
    seed = int(found.study.spec["seed"])
    return db_bench_script(found.options, found.rocksdb_version, found.workload, seed, header)


TARGET = Target(
    "db_bench",
    "a shell script that runs db_bench with the configuration and workload",
    _write,
    holds_cache_settings=True,
)
