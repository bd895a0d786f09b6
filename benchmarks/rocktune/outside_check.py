"""Compares configurations by stock db_bench alone: its threads, its clock, a limit set by the kernel.

All other ratios of rocktune rest on its own runner and on its own throttled device. Here each configuration
has a store that db_bench loads with all keys and ages. Then chunks of the configurations alternate (ABBA).
Each chunk continues its aged store. What counts is the ratio of each pair of chunks.

A check at scale 1 takes a night. With `--data` and `--out` a call goes on with the next chunk that is missing
and ends within `--hours`; a kill loses one chunk. Disk use is bounded and printed first.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.common.claims import (
    ROOT,
    Claim,
    Settings,
    main,
    mean_interval,
    ratio_interval,
    reported,
)
from benchmarks.common.evidence import EVIDENCE
from benchmarks.common.tables import read_rows, typed
from benchmarks.rocktune.outside_chunks import LOAD, Chunk, Conditions, Record, Step, plan
from benchmarks.rocktune.outside_stores import SETTINGS, opened, workload_of
from benchmarks.rocktune.what_lasts import CONFIGURATIONS
from rocktune.errors import UserError, unknown_name
from rocktune.units import format_seconds

SOURCE = "outside check"
WHAT_LASTS = EVIDENCE / "rocktune" / "what_lasts" / "runs.csv"
RELEASE_PROGRAM = ROOT / "build" / "rocksdb" / "bin" / "db_bench"
PART_FULL_SIZE_S = 150.0
"""Length of each of a chunk's two parts, seconds at full size."""
MIN_PAIRS = 3
"""Claims are made from so many pairs on."""
LOAD_BYTES_S = 10 << 20
"""Bytes that one thread loads per second at least, for the estimate of the time."""
FLAGS: dict[str, Any] = {
    "settings": ",".join(SETTINGS),
    "configurations": "guide,winner",
    "data": "",
    "db_bench": "",
    "device": "ssd-100mb",
    "hours": 2.0,
    "ageing": 8,
    "pairs": 6,
}
QUICK: dict[str, Any] = {"settings": "write-heavy", "ageing": 1, "pairs": MIN_PAIRS}
"""Values for a smoke run of flags that are left at their defaults."""
RATIOS = (
    ("ops_s", "", "ratio of operations per second"),
    ("read_us_p99", "_read_p99", "ratio of the p99 latency of gets"),
    ("write_us_p99", "_write_p99", "ratio of the p99 latency of puts"),
    ("write_amplification", "_write_amplification", "ratio of write amplification"),
)


def names_in(text: str, known: Sequence[str], flag: str, least: int) -> list[str]:
    """Returns the names in a flag's comma-separated text.

    Raises:
        UserError: a name is unknown or given twice, or there are fewer than `least`.
    """
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise unknown_name(flag.removeprefix("--").removesuffix("s"), name, known)
    if len(set(names)) < max(least, len(names)):
        raise UserError(f"{flag} '{text}': name {least} or more, each once")
    return names


def continued(
    record: Record,
    steps: Sequence[Step],
    measure: Callable[[Step], Chunk],
    expected_s: Callable[[Step], float],
    hours: float,
    say: Callable[[str], None],
) -> None:
    """Measures the steps one after the other, until the next would probably end after the given hours.

    Args:
        record: gets the chunks.
        steps: the steps that are not measured yet.
        measure: measures a step.
        expected_s: estimates the wall seconds of a step.
        hours: maximum hours of this call.
        say: prints progress.
    """
    started_s = time.monotonic()
    for done, step in enumerate(steps):
        left_s = hours * 3600 - (time.monotonic() - started_s)
        if expected_s(step) > left_s:
            say(f"{len(steps) - done} chunks remain: --hours {hours:g} has no time for another; call again")
            return
        record.add(measure(step))
        say(f"{step}: {record.chunks[-1].figures}")


def claims_of(
    record: Record, conditions: Conditions, settings: Sequence[str], configurations: Sequence[str]
) -> Iterator[Claim]:
    """Yields the claims of all settings and rivals of the first configuration that have enough pairs."""
    baseline = configurations[0]
    shared: dict[str, Any] = {"engine": conditions.engine, "device": conditions.device}
    for setting in settings:
        measured = {each: record.measured(setting, each) for each in configurations}
        enough = [each for each, chunks in measured.items() if len(chunks) >= MIN_PAIRS]
        if baseline not in enough or len(enough) < 2:
            continue
        for name in enough:
            speeds = mean_interval([chunk.ops_s for chunk in measured[name]])
            yield reported(f"{setting}_{name}", SOURCE, "operations per second", speeds, **shared)
        for rival in enough[1:]:
            # The last round may lack one side, if the call has ended within it.
            pairs = list(zip(measured[rival], measured[baseline], strict=False))
            for figure, suffix, unit in RATIOS:
                ratios = [getattr(ours, figure) / getattr(theirs, figure) for ours, theirs in pairs]
                name = f"{setting}_{rival}_over_{baseline}{suffix}"
                yield reported(name, SOURCE, unit, ratio_interval(ratios), **shared)
            yield from steady_claim(setting, rival, baseline, WHAT_LASTS)


def steady_claim(setting: str, rival: str, baseline: str, runs: Path) -> Iterator[Claim]:
    """Yields the ratio that rocktune's own steady figure gave for the same comparison, if it was measured.

    Args:
        setting: a setting of this check.
        rival: the compared configuration.
        baseline: the configuration that it is compared with.
        runs: table of the benchmark what_lasts; its claims lie in the directory above, or with it.
    """
    steady = {
        (row["configuration"], row["replicate"]): row["steady_ops_s"]
        for row in read_rows(runs, typed(steady_ops_s=float), advice="restore the file")
        if row["setting"] == SETTINGS[setting]
    }
    ratios = [
        figure / steady[baseline, replicate]
        for (name, replicate), figure in steady.items()
        if name == rival and (baseline, replicate) in steady
    ]
    conditions = _conditions_of(runs)
    if not ratios or conditions is None:
        return
    claim = reported(
        f"{setting}_{rival}_over_{baseline}_by_rocktune",
        f"{SOURCE}: the same ratio by rocktune's runner and device, from what_lasts",
        "ratio of steady throughput",
        ratio_interval(ratios),
        engine=conditions["engine"],
        device=conditions["device"],
    )
    yield replace(
        claim,
        command=conditions["command"],
        scale=conditions["scale"],
        commit=conditions["commit"],
        date=conditions["date"],
    )


def _conditions_of(runs: Path) -> dict[str, str] | None:
    """Returns a claim of the benchmark what_lasts, for its conditions; None without one."""
    for path in (runs.with_name("claims.json"), runs.parent.parent / "claims.json"):
        if path.exists():
            for claim in json.loads(path.read_text()):
                if claim["experiment"] == runs.parent.name:
                    return dict(claim)
    return None


def _directories(settings: Settings, stack: ExitStack) -> Path:
    """Returns the data directory; a temporary one for a smoke run without --data."""
    if settings.extra["data"]:
        if settings.out is None:
            raise UserError("--data: stores are kept only together with their chunks; add --out DIR")
        return Path(settings.extra["data"])
    if not settings.quick:
        raise UserError("--data: name a directory on the disk to test, for the stores; and --out DIR")
    scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="rocktune-benchmark-"))
    return Path(scratch) / "data"


def _program(named: str) -> str:
    """Returns the db_bench to run: the named one, else that on the PATH, else the release build."""
    return named or shutil.which("db_bench") or str(RELEASE_PROGRAM)


def outside_check(settings: Settings) -> list[Claim]:
    """Compares configurations by stock db_bench on aged stores, in interleaved chunks."""
    extra = dict(settings.extra)
    if settings.quick:
        extra |= {name: value for name, value in QUICK.items() if extra[name] == FLAGS[name]}
    chosen = names_in(extra["settings"], list(SETTINGS), "--settings", 1)
    configurations = names_in(extra["configurations"], list(CONFIGURATIONS), "--configurations", 2)
    with ExitStack() as stack:
        data = _directories(settings, stack)
        program = _program(extra["db_bench"])
        stores = stack.enter_context(opened(data, program, extra["device"], settings.scale))
        part_s = max(1, round(PART_FULL_SIZE_S / settings.scale))
        conditions = Conditions(stores.engine, stores.device, settings.scale, settings.seed, part_s)
        record = Record(settings.out)
        steps = plan(chosen, configurations, extra["ageing"], extra["pairs"])
        remaining = record.remaining(steps, conditions)
        load_s = _load_s(settings.scale)

        def expected_s(step: Step) -> float:
            return load_s if step.phase == LOAD else 2.0 * part_s

        settings.say(f"{stores.require_space(configurations)}; {conditions.engine}; {conditions.device}")
        total = format_seconds(sum(map(expected_s, remaining)))
        settings.say(f"{len(remaining)} of {len(steps)} chunks remain, about {total}")
        continued(
            record,
            remaining,
            lambda step: stores.measure(step, conditions),
            expected_s,
            extra["hours"],
            settings.say,
        )
        return list(claims_of(record, conditions, chosen, configurations))


def _load_s(scale: int) -> float:
    workload = workload_of("write-heavy", scale)
    return workload.keys * workload.entry_bytes / LOAD_BYTES_S


if __name__ == "__main__":
    main("rocktune.outside_check", outside_check, scale=1, extra=FLAGS)
