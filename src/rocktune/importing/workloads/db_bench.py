"""Workloads from db_bench commands."""

import re
from dataclasses import dataclass

from rocktune.errors import UserError, unknown_name
from rocktune.importing.systems.db_bench import is_option_flag
from rocktune.importing.systems.settings import Setting
from rocktune.importing.workloads.account import ImportedWorkload, Use
from rocktune.importing.workloads.command_line import SWITCH_WORDS, WHERE, known_flags, parse_command
from rocktune.importing.workloads.db_bench_parts import (
    BATCHES,
    FILLS,
    IN_ORDER,
    MAINTENANCE,
    MEASURED,
    EntryBytes,
)
from rocktune.importing.workloads.mixgraph import Part
from rocktune.importing.workloads.settings import COUNT_MAX, INT_MAX, ReadSettings
from rocktune.spec_file import validated
from rocktune.workload import WorkloadSpec
from rocktune.workload.distributions import SizeSpec
from rocktune.workload.loads import MAX_VALUE_BYTES, PreloadSpec
from rocktune.workload.sessions import SessionSpec

_REPORTS = (
    "confidence_interval_only", "db", "histogram", "perf_level", "print_malloc_stats", "progress_reports",
    "report_file", "report_file_operations", "report_interval_seconds", "report_open_timing", "seed",
    "show_table_properties", "slow_usecs", "statistics", "statistics_string", "stats_interval",
    "stats_interval_seconds", "stats_level", "stats_per_interval", "thread_status_per_interval",
    "use_stderr_info_logger", "wal_dir",
)  # fmt: skip
_LENGTHS = ("deletes", "duration", "finish_after_writes", "mix_accesses", "ops_between_duration_checks",
            "reads", "writes")  # fmt: skip
_MIN_KEY_BYTES = 8
_VERIFIED = "randomwithverify"
_SCANS = frozenset({"seekrandom", "seekrandomwhilewriting"})
_LOOKUPS = frozenset(
    {"multireadrandom", "multireadwhilewriting", "readmissing", "readrandom", "readwhilewriting"}
)
_LIMITED = {
    "benchmark_read_rate_limit": _LOOKUPS | _SCANS | {"mixgraph"},
    "benchmark_write_rate_limit": frozenset(name for name in (*MEASURED, *FILLS) if "writing" in name)
    | {"mixgraph", "overwrite", "updaterandom", *FILLS},
    "read_random_exp_range": _LOOKUPS | {"mixgraph"},
}
"""Flags with the benchmarks that depend on them."""


@dataclass(frozen=True)
class _Plan:
    """The benchmarks of a command.

    Attributes:
        measured: names of those that become sessions.
        fill: name of the one that becomes the preload; "" without one.
        notes: what happens to the others.
    """

    measured: tuple[str, ...]
    fill: str
    notes: tuple[str, ...]


def from_db_bench(command: str) -> ImportedWorkload:
    """Returns the workload of a db_bench command.

    Args:
        command: the command as typed into a shell, or its flags alone; nothing is run or expanded.

    Raises:
        UserError: a flag or benchmark is unknown or has an invalid value, or a benchmark cannot be imported.
    """
    line = parse_command(command)
    settings = ReadSettings(WHERE, [*line.flags, *line.unknown], "--")
    for unknown in line.unknown:
        settings.tell(unknown.name, Use.LEFT_OUT, why="db_bench does not have it; --undefok allows it")
    existing = settings.switch("use_existing_db", False, SWITCH_WORDS)
    plan = _plan(settings, existing)
    keys = _keys(settings, plan, existing)
    value = _value(settings)
    entry = EntryBytes(_key_bytes(settings), value.mean)
    makers = MEASURED | FILLS
    parts = [makers[name](settings, name, entry) for name in plan.measured]
    preload = _preload(settings, plan, existing, keys)
    spec = _spec(settings, plan, parts, (keys, value, preload))
    _tell_data(settings, spec)
    _tell_others(settings, plan)
    for word in line.other_words:
        settings.warnings.append(f"The word {word!a} is no flag of db_bench and was not read.")
    return ImportedWorkload(
        "a db_bench command", spec, settings.entries(), tuple(settings.assumed), tuple(settings.warnings)
    )


def _keys(settings: ReadSettings, plan: _Plan, existing: bool) -> int:
    """Returns the number of keys."""
    keys = settings.whole("num", 1_000_000, 1)
    settings.used_as(f"keys = {keys}", "num")
    if _VERIFIED not in plan.measured:
        return keys
    # Behind each of the keys it writes one digit.
    verified = 10 * settings.whole("numdistinct", 1000, 1, COUNT_MAX // 10)
    if plan.measured == (_VERIFIED,) and not existing and not plan.fill:
        settings.used_as(f"keys = {verified}", "numdistinct")
        settings.tell("num", Use.WITHOUT_EFFECT, why=f"{_VERIFIED} draws from numdistinct keys")
        return verified
    settings.tell("numdistinct", Use.LEFT_OUT, why="the keys are those of the other benchmarks")
    settings.warnings.append(
        f"{_VERIFIED} draws from {verified} keys of its own, by numdistinct; the workload from all {keys}."
    )
    return keys


def _plan(settings: ReadSettings, existing: bool) -> _Plan:
    """Returns the benchmarks of a command by what becomes of them."""
    if "benchmarks" not in settings:
        raise settings.refused("benchmarks", "missing; name those to measure, such as --benchmarks=overwrite")
    names, notes = [], []
    for word in filter(None, settings.text("benchmarks", "").split(",")):
        name = re.sub(r"\[.*\]$", "", word.strip())
        if name != word.strip():
            notes.append(f"{word.strip()} is not repeated")
        if name not in MEASURED and name not in FILLS and name not in MAINTENANCE:
            raise _unknown_benchmark(settings, name)
        if name in MAINTENANCE:
            notes.append(f"{name} is no load")
        elif name in FILLS and existing:
            notes.append(f"db_bench skips {name} with use_existing_db")
        else:
            names.append(name)
    return _split(settings, names, notes)


def _split(settings: ReadSettings, names: list[str], notes: list[str]) -> _Plan:
    """Returns the plan of a command's loads, in their order."""
    if not names:
        raise settings.refused("benchmarks", f"has no load to measure: {'; '.join(notes) or 'it is empty'}")
    last_fill = max((at for at, name in enumerate(names) if name in FILLS), default=-1)
    alone = last_fill == len(names) - 1
    first = last_fill if alone else last_fill + 1
    gone = names[:first] if alone else names[: max(0, last_fill)]
    notes += [f"{name} ran on an earlier store" for name in gone]
    measured = tuple(names[first:])
    fill = "" if alone or last_fill < 0 else names[last_fill]
    becomes = " and ".join(f"a session of {name}" for name in measured)
    becomes += f", preload of {fill}" if fill else ""
    use = Use.TRANSLATED if notes else Use.USED
    settings.tell("benchmarks", use, becomes, "; ".join(notes))
    return _Plan(measured, fill, tuple(notes))


def _unknown_benchmark(settings: ReadSettings, name: str) -> UserError:
    known = (*MEASURED, *FILLS, *MAINTENANCE)
    if "merge" in name:
        return UserError(f"{settings.where}: benchmark '{name}': workloads have no merge operations; "
                         "a benchmark with puts is nearest")  # fmt: skip
    return UserError(f"{settings.where}: {unknown_name('or unsupported benchmark', name, known)}")


def _spec(
    settings: ReadSettings, plan: _Plan, parts: list[Part], data: tuple[int, SizeSpec, PreloadSpec]
) -> WorkloadSpec:
    """Returns the workload of sessions and data (keys, sizes of values, preload)."""
    keys, value, preload = data
    seconds = settings.whole("duration", 0, 0, INT_MAX)
    if len(parts) > 1 and seconds == 0:
        raise settings.refused(
            "benchmarks", "are several loads that end after a number of operations; add --duration=SECONDS "
            "for each one's length, or name one"
        )  # fmt: skip
    threads = settings.whole("threads", 1, 1, 1024)
    used_threads = min(1024, threads + max(part.extra_threads for part in parts))
    settings.used_as(f"threads = {used_threads}", "threads")
    sizes = next((part.value for part in parts if part.value is not None), value)
    scans = next((part.scan_length for part in parts if part.scan_length is not None), SizeSpec(low=100))
    ranges = next((part.delete_range_keys for part in parts if part.delete_range_keys is not None), None)
    sessions = tuple(
        SessionSpec(
            seconds=float(seconds) if len(parts) > 1 else 0.0,
            mix=part.mix,
            arrival=part.arrival,
            key_chooser=part.key_chooser if len(parts) > 1 else None,
            value=(part.value or value) if len(parts) > 1 else None,
            scan_length=part.scan_length if len(parts) > 1 else None,
            delete_range_keys=part.delete_range_keys if len(parts) > 1 else None,
        )
        for part in parts
    )
    if len(parts) > 1:
        settings.used_as(f"sessions of {seconds} s", "duration")
    document = {
        "name": "-".join(plan.measured),
        "keys": keys,
        "key_bytes": _key_bytes(settings),
        "value": sizes,
        "value_compressed_fraction": settings.number("compression_ratio", 0.5, 1e-6, 1),
        "threads": used_threads,
        "key_chooser": parts[0].key_chooser,
        "scan_length": scans,
        "delete_range_keys": ranges,
        "sessions": sessions,
        "preload": preload,
        "wal": not settings.switch("disable_wal", False, SWITCH_WORDS),
        "sync": settings.switch("sync", False, SWITCH_WORDS),
    }
    return validated(WorkloadSpec, document, settings.where)


def _key_bytes(settings: ReadSettings) -> int:
    size = settings.whole("key_size", 16, 1, 1024)
    if size < _MIN_KEY_BYTES:
        why = f"keys have at least {_MIN_KEY_BYTES} bytes"
        settings.tell("key_size", Use.TRANSLATED, f"key_bytes = {_MIN_KEY_BYTES}", why)
    else:
        settings.used_as(f"key_bytes = {size}", "key_size")
    return max(_MIN_KEY_BYTES, size)


def _value(settings: ReadSettings) -> SizeSpec:
    """Returns the sizes of values, which mixgraph replaces."""
    law = settings.text("value_size_distribution_type", "fixed").lower()
    if law not in ("fixed", "uniform", "normal"):
        raise settings.refused(
            "value_size_distribution_type", "is unknown; use one of fixed, uniform, normal"
        )
    if law == "fixed":
        size = settings.whole("value_size", 100, 0, MAX_VALUE_BYTES)
        settings.used_as(f"value = {size}", "value_size")
        for name in ("value_size_min", "value_size_max"):
            settings.tell(name, Use.WITHOUT_EFFECT, why="all values have the size value_size")
        return SizeSpec(low=size)
    low = settings.whole("value_size_min", 100, 0, MAX_VALUE_BYTES)
    high = settings.whole("value_size_max", 102_400, 0, MAX_VALUE_BYTES)
    settings.tell("value_size", Use.WITHOUT_EFFECT, why=f"sizes are {law}")
    if low > high:
        raise settings.refused("value_size_min", f"exceeds value_size_max, {high}")
    names = ("value_size_distribution_type", "value_size_min", "value_size_max")
    if law == "uniform":
        settings.used_as(f"value from {low} to {high}", *names)
        return SizeSpec(kind="uniform", low=low, high=high)
    for name in names:
        becomes = f"value from {low} to {high}"
        settings.tell(name, Use.TRANSLATED, becomes, "sizes are uniform between the bounds, not normal")
    return SizeSpec(kind="uniform", low=low, high=high)


def _preload(settings: ReadSettings, plan: _Plan, existing: bool, keys: int) -> PreloadSpec:
    """Returns the data that the sessions find."""
    if existing:
        settings.used_as("preload of all keys in random order", "use_existing_db")
        settings.assumed.append(f"The existing database holds all {keys} keys, loaded in random order.")
        return PreloadSpec(keys=keys, random_order=True)
    if not plan.fill:
        if any(name not in FILLS for name in plan.measured):
            settings.warnings.append(
                "The command runs on an empty store, because it neither fills one nor has --use_existing_db; "
                "set preload in the workload file for a store with data."
            )
        return PreloadSpec()
    writes = settings.whole("writes", -1, -1)
    loaded = keys if writes < 0 else min(keys, writes)
    settings.used_as(f"preload.keys = {loaded}", "writes")
    if plan.fill == "fillrandom":
        settings.assumed.append(
            f"The preload has {loaded} different keys; fillrandom draws some twice and leaves others out."
        )
    return PreloadSpec(keys=loaded, random_order=plan.fill not in IN_ORDER)


def _tell_data(settings: ReadSettings, spec: WorkloadSpec) -> None:
    settings.used_as(f"value_compressed_fraction = {spec.value_compressed_fraction:g}", "compression_ratio")
    settings.used_as(f"wal = {str(spec.wal).lower()}", "disable_wal")
    settings.used_as(f"sync = {str(spec.sync).lower()}", "sync")


def _tell_others(settings: ReadSettings, plan: _Plan) -> None:
    """States the use of each flag that the workload was not made from."""
    if any(name in BATCHES for name in (*plan.measured, plan.fill)):
        settings.assumed.append("Keys are accessed one by one, not in batches.")
    for name in _LENGTHS:
        if not (name == "duration" and len(plan.measured) > 1) and not (name == "writes" and plan.fill):
            why = "a study has a length of its own"
            settings.tell(name, Use.WITHOUT_EFFECT, why=why)
    for setting in settings.unread:
        settings.tell(setting.name, *_other(setting, plan))


def _other(setting: Setting, plan: _Plan) -> tuple[Use, str, str]:
    """Returns use, field and reason of a flag that the workload was not made from."""
    name, default = setting.name, known_flags()[setting.name].default
    if name in _REPORTS:
        return Use.WITHOUT_EFFECT, "", "it concerns reports, or rocktune has a place or number of its own"
    if is_option_flag(name) or name == "options_file":
        where = "that file" if name == "options_file" else "the command in a file"
        return Use.LEFT_OUT, "", f"an option of the store: give {where} with --options-file"
    if name == "num_column_families" and setting.text != default:
        return Use.LEFT_OUT, "", "keys are in one family; [[families]] in the workload file adds others"
    if setting.text.lower() in (default.lower(), ""):
        return Use.WITHOUT_EFFECT, "", "it is db_bench's default"
    if name in _LIMITED and not _LIMITED[name] & {*plan.measured}:
        return Use.WITHOUT_EFFECT, "", f"{' and '.join(plan.measured)} does not use it"
    if name.startswith(("mix_", "sine_", "keyrange_", "key_dist_", "iter_", "value_")):
        return Use.WITHOUT_EFFECT, "", f"{' and '.join(plan.measured)} does not use it"
    return Use.LEFT_OUT, "", "workloads have nothing like it"
