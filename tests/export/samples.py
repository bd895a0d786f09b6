"""Options of a tuned store, and what the tests of all targets need to read exported texts."""

from dataclasses import replace
from pathlib import Path

from tests.report import sample

from rocktune.export import export_study
from rocktune.space import OptionMaps
from rocktune.systems.typed_options import ENUMERATIONS, TYPES
from rocktune.workload import load_workload

STUDY = replace(
    sample.study(),
    spec={"seed": 7, "workload": load_workload("dremel-write-heavy").model_dump(mode="json")},
)

TUNED: OptionMaps = {
    "db": {
        "max_background_compactions": "3",
        "max_background_flushes": "2",
        "max_subcompactions": "2",
        "max_open_files": "-1",
        "bytes_per_sync": "1048576",
        "allow_mmap_reads": "false",
    },
    "cf": {
        "write_buffer_size": str(48 << 20),
        "max_write_buffer_number": "4",
        "min_write_buffer_number_to_merge": "2",
        "level0_file_num_compaction_trigger": "6",
        "level0_slowdown_writes_trigger": "12",
        "level0_stop_writes_trigger": "21",
        "num_levels": "6",
        "max_bytes_for_level_base": str(384 << 20),
        "max_bytes_for_level_multiplier": "8.000000",
        "target_file_size_base": str(32 << 20),
        "target_file_size_multiplier": "2",
        "soft_pending_compaction_bytes_limit": str(96 << 30),
        "compression": "kLZ4Compression",
        "compaction_style": "kCompactionStyleLevel",
        "compaction_pri": "kMinOverlappingRatio",
        "level_compaction_dynamic_level_bytes": "false",
    },
    "table": {
        "block_size": "8192",
        "block_cache": "646000000",
        "cache_index_and_filter_blocks": "false",
        "filter_policy": "bloomfilter:10:false",
    },
}
"""Full size. 646000000 bytes are 616.07 MiB and no whole number of KiB."""


_TABLE_OPTIONS = """
    block_align block_restart_interval block_size block_size_deviation cache_index_and_filter_blocks
    cache_index_and_filter_blocks_with_high_priority data_block_hash_table_util_ratio enable_index_compression
    format_version index_block_restart_interval metadata_block_size no_block_cache optimize_filters_for_memory
    partition_filters pin_l0_filter_and_index_blocks_in_cache pin_top_level_index_and_filter
    read_amp_bytes_per_bit use_delta_encoding verify_compression whole_key_filtering
"""


def options_of_all_types() -> OptionMaps:
    """Returns every option with a type that the source code targets know, and some value of that type."""
    values = {"int": "4", "long": "65536", "double": "0.250000", "boolean": "false"}
    values |= {kind: next(iter(names)) for kind, names in ENUMERATIONS.items()}
    texts = {name: values[kind] for name, kind in TYPES.items()}
    table = _TABLE_OPTIONS.split()
    return {
        "db": {name: text for name, text in texts.items() if name not in table},
        "table": {name: texts[name] for name in table},
    }


def exported(target: str, options: OptionMaps = TUNED) -> str:
    """Exports a study that found `options`."""
    best = sample.document()["best"] | {"options": options}
    return export_study(target, STUDY, sample.outcome(best=best))


def changed(section: str, **texts: str) -> OptionMaps:
    """Returns the tuned options with some replaced or added."""
    return TUNED | {section: TUNED[section] | texts}


def settings(text: str, separator: str) -> dict[str, str]:
    """Reads "name separator value" lines, without comments and section titles."""
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", "["))]
    pairs = [line.partition(separator) for line in lines]
    return {name: value for name, _, value in pairs}


def comments(text: str) -> str:
    """Returns all comments as one line, however they were wrapped."""
    lines = [line.lstrip("#/").strip() for line in text.splitlines() if line.startswith(("#", "//"))]
    return " ".join(lines)


def sections(text: str) -> dict[str, dict[str, str]]:
    """Reads an OPTIONS file as RocksDB does: sections of name=value, comments after #."""
    found: dict[str, dict[str, str]] = {}
    current: dict[str, str] = {}
    for line in (line.split("#")[0].strip() for line in text.splitlines()):
        if line.startswith("["):
            current = found.setdefault(line, {})
        elif line:
            name, value = line.split("=", 1)
            current[name] = value
    return found


def written_options(store: Path) -> str:
    """Returns the OPTIONS file that RocksDB wrote last in a store's directory."""
    return max(store.glob("OPTIONS-*"), key=lambda file: int(file.name.split("-")[1])).read_text()


def read_back(options_text: str, names: OptionMaps) -> OptionMaps:
    """Returns what an OPTIONS file that RocksDB wrote says of the options named, in the form of `expected`.

    The block cache is left out: RocksDB never writes it.
    """
    found = sections(options_text)
    titles = {
        "db": "[DBOptions]",
        "cf": '[CFOptions "default"]',
        "table": '[TableOptions/BlockBasedTable "default"]',
    }
    return {
        section: {name: shortest(found[titles[section]][name]) for name in texts if name != "block_cache"}
        for section, texts in names.items()
    }


def expected(options: OptionMaps) -> OptionMaps:
    """Returns options with numbers in their shortest form."""
    return {
        section: {name: shortest(text) for name, text in texts.items() if name != "block_cache"}
        for section, texts in options.items()
    }


def shortest(text: str) -> str:
    """Writes a number without needless digits; other text stays."""
    try:
        return f"{float(text):.17g}"
    except ValueError:
        return text
