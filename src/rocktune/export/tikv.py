"""Exports to TiKV's tikv.toml."""

from rocktune.export.rules import background_threads, flat, translated, with_background_jobs
from rocktune.export.target import Found, Target, head
from rocktune.space.options import SECTIONS
from rocktune.systems.rules import Settings
from rocktune.systems.tikv import CACHE, DATABASE, FAMILIES, FAMILY, FIXED

_FLOW_CONTROL = {
    "level0_slowdown_writes_trigger": ("l0-files-threshold", "20"),
    "soft_pending_compaction_bytes_limit": ("soft-pending-compaction-bytes-limit", '"192GB"'),
    "hard_pending_compaction_bytes_limit": ("hard-pending-compaction-bytes-limit", '"1TB"'),
    "max_write_buffer_number": ("memtables-threshold", "5"),
}
"""By RocksDB option: the setting of TiKV's flow control that replaces it, and its default."""


def _flow_control_notes(family: Settings) -> list[str]:
    """Returns a note with the flow-control settings nearest to the measured triggers."""
    pairs = [
        f"{key} = {family[name.replace('_', '-')]} (by default {default})"
        for name, (key, default) in _FLOW_CONTROL.items()
        if name.replace("_", "-") in family
    ]
    note = (
        "Flow control (storage.flow-control.enable, on by default) replaces RocksDB's write stalls"
        " and lowers level0 triggers and pending limits to its own"
    )
    return [f"{note}; nearest to the measured values: {', '.join(pairs)}" if pairs else note]


def _notes(found: Found, family: Settings) -> list[str]:
    """Returns what to know before using the file."""
    return [
        *_flow_control_notes(family),
        "storage.block-cache.capacity is for all column families. Index and filter blocks count in it, unless"
        " cache-index-and-filter-blocks is false: then they take further memory",
        "The compaction guard, on by default, uses compaction-guard-max-output-file-size instead of"
        " target-file-size-base",
        "Values of up to 255 bytes are stored in writecf, larger ones in defaultcf; yours have"
        f" {found.workload.value.mean:.0f} on average. The same settings work under [rocksdb.writecf], whose"
        " memtables come on top",
        "RocksDB is only one of TiKV's layers: Raft's log and the scheduler have their own limits",
    ]


def _write(found: Found) -> str:
    """Returns the tables of tikv.toml."""
    jobs = with_background_jobs(found.options)[0]
    options = flat({section: texts for section, texts in jobs.items() if section in SECTIONS})
    threads = background_threads(found.options)
    if threads is not None:
        # TiKV has max-background-flushes besides the jobs, but no number of compactions.
        options["max_background_flushes"] = str(threads[1])
    # One pass over all tables gives the list of options left out; the passes below only sort settings by
    # table.
    unmapped = translated(options, {**CACHE, **DATABASE, **FAMILY}, FIXED).unmapped
    tables = {
        "storage.block-cache": translated(options, CACHE).settings,
        "rocksdb": translated(options, DATABASE).settings,
    }
    for name, own in found.families.items():
        tuned = len(found.families) == 1 or name == found.family
        table = FAMILIES.get("default" if len(found.families) == 1 else name)
        if table is None:
            unmapped.append(f"column family {name}: TiKV has only {', '.join(FAMILIES)}")
            continue
        done = translated(flat(own), {**CACHE, **FAMILY}, FIXED)
        unmapped += [] if tuned else [f"{name}: {line}" for line in done.unmapped]
        tables[f"rocksdb.{table}"] = translated(flat(own), FAMILY).settings
    first = next((tables[name] for name in tables if name.endswith("cf")), {})
    lines = head(found, "#", "TiKV 8.5, tikv.toml", _notes(found, first), unmapped)
    for table, settings in tables.items():
        if settings:
            lines += ["", f"[{table}]", *(f"{name} = {value}" for name, value in settings.items())]
    return "\n".join(lines) + "\n"


TARGET = Target("tikv", "TiKV's tikv.toml", _write, holds_families=True)
