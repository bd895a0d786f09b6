"""What a file leaves out, where releases have different defaults."""

from dataclasses import replace

import pytest
from tests.importing.golden_files import GOLDENS

from rocktune.importing import LinkedRocksDb, OptionsAccount, imported, parsed_document, read_options_document


def account(linked: LinkedRocksDb, measuring: str, version: str, text: str) -> OptionsAccount:
    """The account of a file, read as by a RocksDB of another version with the same options."""
    head = f"[Version]\nrocksdb_version={version}\n" if version else ""
    file = imported(parsed_document((head + text).encode()), replace(linked, version=measuring))
    return file.account


PARTIAL = (
    '[DBOptions]\nmax_open_files=50\n[CFOptions "default"]\nttl=0\ncompaction_options_fifo={ttl=0;}\n'
    '[TableOptions/BlockBasedTable "default"]\nchecksum=kCRC32c\n'
)


def test_a_left_out_option_is_named_with_both_defaults(linked: LinkedRocksDb) -> None:
    found = account(linked, "8.6.7", "6.29.5", PARTIAL)
    (note,) = found.notes
    assert note == (
        "Left out, and changed from RocksDB 6.29.5 to 8.6.7: "
        "level_compaction_dynamic_level_bytes (false -> true), compaction_readahead_size (0 -> 2097152); "
        "rocktune measures with the defaults of 8.6.7."
    )
    first = found.changed_defaults[0]
    assert (first.section, first.name) == ("cf", "level_compaction_dynamic_level_bytes")
    assert (first.used, first.other, first.releases) == ("true", "false", "6.29.5")


@pytest.mark.parametrize(
    ("version", "measuring", "names"),
    [
        # Not checksum and ttl, which the file gives.
        ("6.29.5", "7.8.3", set()),
        ("8.4.4", "8.3.2", {"level_compaction_dynamic_level_bytes"}),
        ("6.3", "6.4", {"cache_index_and_filter_blocks_with_high_priority"}),
        # 4.3 had no soft_pending_compaction_bytes_limit, which came with 4.4.
        ("4.3", "4.4", {"delayed_write_rate"}),
        ("4.5", "4.6", {"format_version"}),
        # fail_if_options_file_error is gone since 10.2.
        ("10.2.1", "8.7", {"write_dbid_to_manifest", "format_version", "optimize_filters_for_memory"}),
        ("99.0", "11.8.1", set()),
    ],
)
def test_only_what_the_files_release_had_and_the_file_lacks(
    linked: LinkedRocksDb, version: str, measuring: str, names: set[str]
) -> None:
    assert {
        each.name for each in account(linked, measuring, version, PARTIAL).changed_defaults
    } == names & known(linked)


def known(linked: LinkedRocksDb) -> set[str]:
    return {name for options in linked.defaults.values() for name in options}


def test_a_derived_default_is_named_only_with_what_it_derives_from(linked: LinkedRocksDb) -> None:
    named = [
        {each.name for each in account(linked, "6.21", "6.20", text).changed_defaults}
        for text in ("[DBOptions]\n", '[CFOptions "default"]\nwrite_buffer_size=1048576\n')
    ]
    assert named == [{"arena_block_size"}, set()]


def test_settings_inside_braces(linked: LinkedRocksDb) -> None:
    def named(text: str) -> set[str]:
        return {each.name for each in account(linked, "5.15", "5.14", text).changed_defaults}

    level = "compression_opts.level"
    assert level in named('[CFOptions "default"]\ncompression=kZSTD\n')
    assert level in named('[CFOptions "default"]\ncompression_opts={max_dict_bytes=4096;}\n')
    assert level not in named('[CFOptions "default"]\ncompression_opts={level=3;}\n')


@pytest.mark.parametrize("version", ["", "tomorrow", "1.2.3.4"])
def test_a_file_that_names_no_release(linked: LinkedRocksDb, version: str) -> None:
    found = account(linked, "8.6.7", version, PARTIAL)
    (note,) = found.notes
    assert note.startswith(
        "Left out, and not the same in every RocksDB: compression (kLZ4Compression since 11.5), "
    )
    assert "level_compaction_dynamic_level_bytes (false before 8.4)" in note
    assert note.endswith("The file does not name its RocksDB (rocksdb_version in [Version]).")
    by_name = {each.name: each for each in found.changed_defaults}
    # RocksDB 8.6.7 has 5; 9.0 brought 6, and 10.11 brought 7.
    assert (by_name["format_version"].used, by_name["format_version"].other) == ("5", "6")
    assert by_name["format_version"].releases == "since 9.0"
    assert by_name["write_buffer_size"].releases == "before 4.7"
    assert not by_name.keys() & {"ttl", "checksum", "auto_readahead_size"}
    shown = note.count(" since ") + note.count(" before ")
    assert shown == 8
    assert f" and {len(by_name) - shown} more; " in note


def test_rocksdbs_own_files_leave_nothing_out(every_linked: tuple[LinkedRocksDb, ...]) -> None:
    for path in GOLDENS:
        document = read_options_document(path)
        for linked in every_linked:
            changed = imported(document, linked, "default").account.changed_defaults
            # Files of RocksDB 4 lack settings of the compression, which RocksDB did not write then.
            assert {each.name for each in changed} <= {"compression_opts.level"}, path
            assert not changed or document.rocksdb_version < "5.13"
