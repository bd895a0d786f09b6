"""Exports to Kvrocks' kvrocks.conf."""

from rocktune.errors import UserError
from rocktune.export.rules import flat, translated
from rocktune.export.target import Found, Target, head
from rocktune.systems.kvrocks import FIXED, LEVELED, RULES

_NOTES = (
    "block_cache_size, write_buffer_size, target_file_size_base and max_total_wal_size are in MB, rounded"
    " down; the other sizes are in bytes",
    "Kvrocks has several column families, each with its own memtables (strings are in metadata, elements of"
    " other types in the default one), and one block cache for all",
    "max_background_compactions and max_background_flushes are deprecated; unless they are -1, they"
    " override max_background_jobs",
    "Older releases skip unknown keys with a warning: 2.10 merges 2 memtables, compresses only"
    " level 2 and below, and refuses a max_bytes_for_level_base above 2147483647",
    "max-io-mb limits the rate of flushes and compactions; 0 is no limit",
)


def _write(found: Found) -> str:
    """Returns the lines of kvrocks.conf.

    Raises:
        UserError: the configuration does not use leveled compaction.
    """
    style = found.options.get("cf", {}).get("compaction_style", LEVELED)
    if style != LEVELED:
        raise UserError(f"kvrocks: Kvrocks has only leveled compaction, and the study's is {style}")
    done = translated(flat(found.options), RULES, FIXED)
    lines = [
        *head(found, "#", "Kvrocks, kvrocks.conf (names of 2025)", _NOTES, done.unmapped),
        "",
        *(f"{name} {value}" for name, value in done.settings.items()),
    ]
    return "\n".join(lines) + "\n"


TARGET = Target("kvrocks", "Kvrocks' kvrocks.conf", _write)
