"""Exports to a shell script that runs db_bench with a configuration and an approximate workload."""

import shlex
from collections.abc import Mapping

from rocktune.engine.db_bench.flags import plan_of, preload_flags
from rocktune.export.target import Found, Target, commented
from rocktune.space import OptionMaps, options_file_text
from rocktune.workload import WorkloadSpec

SECONDS = 120
"""Length of the measured benchmark in seconds, as Dremel's final run (section 5.2.1)."""
_END = "END_OF_OPTIONS"


def db_bench_script(
    options: OptionMaps, rocksdb_version: str, workload: WorkloadSpec, seed: int, header: str
) -> str:
    """Returns a shell script with a db_bench command that loads the preload, if any, and one that measures.

    db_bench has flags for few options, with defaults of its own. So the script writes an OPTIONS file, and
    `--cache_size=0` makes db_bench take the block cache from it too.

    Args:
        options: RocksDB options at full size.
        rocksdb_version: version of the RocksDB that the options are for.
        workload: workload at full size.
        seed: seed of db_bench's random numbers.
        header: comment lines to begin with, each with its "#".
    """
    plan = plan_of(workload)
    missing = [f"{gap.feature}: {gap.instead}" for gap in plan.gaps]
    missing.append("the simulated device: db_bench runs on the real one, without limits")
    common = {"cache_size": "0", "seed": str(seed)}
    lines = ["#!/bin/sh", header.rstrip("\n"), "#"]
    lines += [
        "# What db_bench cannot express, and what it does instead:",
        *commented((f"- {line}" for line in missing), "#"),
    ]
    lines += [
        # A failed load must not be followed by a measurement of a half-filled store.
        "set -e",
        "scratch=$(mktemp -d)",
        "trap 'rm -rf \"$scratch\"' EXIT",
        "trap 'exit 1' HUP INT TERM   # without it, sh would skip the trap on EXIT",
        "# Set DB to choose the store's directory, which is overwritten. Without DB the store is temporary.",
        'db="${DB:-$scratch/db}"',
        'options="$scratch/OPTIONS"',
        # The quoted end marker keeps sh from expanding "$" in option values.
        f"cat >\"$options\" <<'{_END}'",
        options_file_text(options, rocksdb_version).rstrip("\n"),
        _END,
        "",
    ]
    measured = {"benchmarks": plan.benchmark, "duration": str(SECONDS)} | plan.flags
    if workload.preload.keys:
        lines += [_command(preload_flags(workload) | common), ""]
        # Otherwise db_bench would delete the loaded store before it measures.
        measured["use_existing_db"] = "true"
    lines.append(_command(measured | common | {"histogram": "true", "statistics": "true"}))
    return "\n".join(lines) + "\n"


def _command(flags: Mapping[str, str]) -> str:
    """Returns a db_bench command with one flag per line."""
    given = [f"--{name}={shlex.quote(value)}" for name, value in flags.items()]
    return " \\\n    ".join(['db_bench --db="$db" --options_file="$options"', *given])


def _write(found: Found) -> str:
    """Returns the shell script."""
    header = "\n".join(commented(found.comment, "#"))
    seed = int(found.study.spec["seed"])
    return db_bench_script(found.options, found.rocksdb_version, found.workload, seed, header)


TARGET = Target(
    "db_bench",
    "a shell script that runs db_bench with the configuration and workload",
    _write,
    holds_cache_settings=True,
)
