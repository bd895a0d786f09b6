"""LOG files of stores that tests put together."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.importing.logs.made import message

from rocktune.analysis.explain import Explained, Finding, explain_opening
from rocktune.importing.logs import read_log

MIB = 1 << 20
GOOD: Mapping[str, object] = {
    "max_background_jobs": 8,
    "max_background_flushes": -1,
    "max_background_compactions": -1,
    "max_open_files": -1,
    "delayed_write_rate": 16 * MIB,
    "write_buffer_size": 64 * MIB,
    "max_write_buffer_number": 4,
    "max_bytes_for_level_base": 256 * MIB,
    "target_file_size_base": 64 * MIB,
    "level0_file_num_compaction_trigger": 4,
    "level0_slowdown_writes_trigger": 20,
    "level0_stop_writes_trigger": 36,
    "soft_pending_compaction_bytes_limit": 64 << 30,
    "hard_pending_compaction_bytes_limit": 256 << 30,
    "compaction_style": "kCompactionStyleLevel",
    "compression": "LZ4",
}
OF_THE_DATABASE = frozenset(
    (
        "max_background_jobs",
        "max_background_flushes",
        "max_background_compactions",
        "max_open_files",
        "delayed_write_rate",
        "db_write_buffer_size",
    )
)
TABLE_OPTIONS: Mapping[str, object] = {"filter_policy": "bloomfilter"}
_HEADS = (
    "Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) "
    "Comp(sec) CompMergeCPU(sec) Comp(cnt) Avg(sec) KeyIn KeyDrop"
)


@dataclass(frozen=True)
class Work:
    """Flushes or compactions in the hundred seconds of a made-up LOG."""

    seconds: float = 10.0
    mb_s: float = 100.0
    cpu_s: float = 5.0


@dataclass(frozen=True)
class Family:
    """A column family: options beyond `GOOD`, levels as (files, MiB), and jobs."""

    options: Mapping[str, object] = field(default_factory=dict)
    table_options: Mapping[str, object] = field(default_factory=dict)
    levels: Mapping[str, tuple[int, float]] = field(default_factory=lambda: {"L0": (2, 64), "L6": (40, 2500)})
    flushes: Work = Work()
    compactions: Work = Work()


def _row(name: str, files: int, size_mb: float, work: Work) -> str:
    return (
        f"  {name} {files}/0 {size_mb:.2f} MB 0.5 0 0 0 0 0 0 1.0 0.0 "
        f"{work.mb_s} {work.seconds} {work.cpu_s} 9 1.0 0 0\n"
    )


def _tables(name: str, family: Family) -> str:
    files = sum(files for files, _ in family.levels.values())
    size = sum(size for _, size in family.levels.values())
    rows = "".join(_row(level, *shape, Work()) for level, shape in family.levels.items())
    title, line = f"\n** Compaction Stats [{name}] **\n", f"{'-' * 60}\n"
    return (
        f"{title}Level {_HEADS}\n{line}{rows}{_row('Sum', files, size, Work())}"
        f"{title}Priority {_HEADS}\n{line}{_row('Low', 0, 0, family.compactions)}"
        f"{_row('High', 0, 0, family.flushes)}\nUptime(secs): 100.0 total, 100.0 interval\n"
    )


def log_text(
    families: Mapping[str, Family],
    stalls: Iterable[str] = (),
    stall_s: float = 0.0,
    tickers: Mapping[str, int] | None = None,
) -> str:
    """Returns a LOG of a hundred seconds.

    Args:
        families: the column families; the first one's options are the database's too.
        stalls: messages such as "[default] Stalling writes because ...", ten seconds apart.
        stall_s: seconds of delays and stops, as RocksDB counts them.
        tickers: counters without the prefix "rocksdb."; None for no statistics object.
    """
    text = message(0, "RocksDB version: 9.9.3")
    text += message(0, "[db/version_set.cc:1] Recovered from manifest file:/db/MANIFEST-000004")
    database = {**GOOD, **next(iter(families.values())).options}
    text += "".join(
        message(0, f"   Options.{key}: {value}") for key, value in database.items() if key in OF_THE_DATABASE
    )
    for name, family in families.items():
        options = {
            key: each for key, each in {**GOOD, **family.options}.items() if key not in OF_THE_DATABASE
        }
        text += message(0, f"--------------- Options for column family [{name}]:")
        text += message(0, "           table_factory options:   block_size: 4096")
        nested = {key: value for key, value in family.table_options.items() if key == "capacity"}
        plain = dict(TABLE_OPTIONS) | {
            key: value for key, value in family.table_options.items() if key != "capacity"
        }
        text += "  block_cache_options:\n" + "".join(f"    {key} : {nested[key]}\n" for key in nested)
        text += "".join(f"  {key}: {value}\n" for key, value in plain.items())
        text += "".join(message(0, f"   Options.{key}: {value}") for key, value in options.items())
    for at, stall in enumerate(stalls):
        text += message(10 + 10 * at, f"[WARN] [db/column_family.cc:956] {stall}")
    text += message(100, "[db/db_impl.cc:1] ------- DUMPING STATS -------")
    text += message(100, "[db/db_impl.cc:2]")
    text += "\n** DB Stats **\nUptime(secs): 100.0 total, 100.0 interval\n"
    hours = f"00:{int(stall_s) // 60:02}:{stall_s % 60:.3f}"
    text += f"Cumulative stall: {hours} H:M:S, {stall_s:.1f} percent\n"
    text += "".join(_tables(name, family) for name, family in families.items())
    if tickers is not None:
        text += message(100, "[db/db_impl.cc:3] STATISTICS:")
        text += "".join(f"rocksdb.{name} COUNT : {count}\n" for name, count in tickers.items())
    return text + message(100.5, "end")


def explained_text(directory: Path, text: str) -> Explained:
    """Returns what the one opening in a LOG's text comes to."""
    path = directory / "LOG"
    path.write_text(text)
    (opening,) = read_log([path]).openings
    return explain_opening(opening)


def findings(
    directory: Path,
    family: Family | Mapping[str, Family] = Family(),
    stalls: Iterable[str] = (),
    stall_s: float = 0.0,
    tickers: Mapping[str, int] | None = None,
) -> tuple[Finding, ...]:
    """Returns the findings in a LOG of a hundred seconds; see `log_text`."""
    families = {"default": family} if isinstance(family, Family) else family
    return explained_text(directory, log_text(families, stalls, stall_s, tickers)).findings


def level0(count: int, family: str = "default", stops: bool = False, rate: int = 16 * MIB) -> str:
    """Returns the message of a delay or stop by files in level 0."""
    kind, end = ("Stopping", "") if stops else ("Stalling", f" rate {rate}")
    return f"[{family}] {kind} writes because we have {count} level-0 files{end}"


def memtables(count: int, stops: bool = True) -> str:
    """Returns the message of a stop by memtables."""
    return (
        f"[default] {'Stopping' if stops else 'Stalling'} writes because we have {count} immutable memtables"
    )


def pending(amount: int, rate: int = 16 * MIB) -> str:
    """Returns the message of a delay by pending bytes."""
    return f"[default] Stalling writes because of estimated pending compaction bytes {amount} rate {rate}"
