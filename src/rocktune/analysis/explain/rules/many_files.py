"""There are too many files, or more than may be open."""

from collections.abc import Iterator

from rocktune.analysis.explain.facts import Facts
from rocktune.analysis.explain.finding import Confidence, Evidence, Finding, Suggestion
from rocktune.analysis.explain.rule import Rule
from rocktune.analysis.explain.suggesting import changed, whole
from rocktune.units import format_bytes

MIN_SMALL_FILES = 400
MAX_MEAN_BYTES = 2 << 20
"""Mean size of small files. RocksDB's default target is 64 MiB."""
MIN_OPEN_PART = 0.9
"""Files over max_open_files, from which lookups have to open files again."""
_TARGET_BYTES = 64 << 20


def _find(facts: Facts) -> Iterator[Finding]:
    files = sum(stats.files for stats in facts.last_stats.values())
    if not files:
        return
    mean_bytes = facts.store_bytes / files
    open_files = facts.number("max_open_files")
    small = files >= MIN_SMALL_FILES and mean_bytes < MAX_MEAN_BYTES
    crowded = open_files is not None and open_files > 0 and files > MIN_OPEN_PART * open_files
    if not small and not crowded:
        return
    evidence = [Evidence(f"{files:,} files have {format_bytes(mean_bytes)} each on average.", "Sum")]
    if crowded:
        evidence.append(
            Evidence(f"At most {open_files:.0f} may be open at a time.", "Options.max_open_files")
        )
    yield Finding(
        rule="many-files",
        title=f"{files:,} files" + (" are more than may be open" if crowded else " are small ones"),
        families=(),
        held_share=None,
        cause=(
            "Each file costs an index, a filter, a place in the MANIFEST and, when it is written, a sync and "
            "a change of the version. Above max_open_files a lookup may have to open a file and read its "
            "index and filter first."
        ),
        confidence=Confidence.HIGH,
        is_root=True,
        covers=frozenset(),
        evidence=tuple(evidence),
        suggestions=tuple(_suggestions(facts, small, crowded)),
    )


def _suggestions(facts: Facts, small: bool, crowded: bool) -> Iterator[Suggestion]:
    if small:
        yield changed(
            facts, "target_file_size_base", facts.families[0], _TARGET_BYTES, "makes fewer, larger files"
        )
    if crowded:
        why = "keeps all files open"
        yield Suggestion("max_open_files", whole(facts.number("max_open_files")), "-1", why)


RULE = Rule(
    "many-files",
    (
        "wiki: RocksDB Tuning Guide",
        "code: db/table_cache.cc",
        "code: include/rocksdb/options.h, max_open_files",
    ),
    _find,
)
