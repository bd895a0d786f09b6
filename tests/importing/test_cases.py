"""What each of the files in cases/ must give, whichever RocksDB is linked."""

from pathlib import Path

import pytest

from rocktune.importing import (
    AccountEntry,
    Fate,
    ImportedOptions,
    LinkedRocksDb,
    OptionsFileError,
    import_options,
)
from rocktune.rocksdb_version import RocksDbVersion

CASES = Path(__file__).parent / "cases"


def read(linked: LinkedRocksDb, name: str, family: str | None = None) -> ImportedOptions:
    return import_options(CASES / f"{name}.ini", linked, family)


def entry(file: ImportedOptions, name: str) -> AccountEntry:
    (found,) = [each for each in file.account.entries if each.name == name and each.fate != "not measured"]
    return found


def test_a_byte_order_mark_and_crlf(linked: LinkedRocksDb) -> None:
    file = read(linked, "bom-and-crlf")
    assert file.options["cf"]["write_buffer_size"] == "16777216"
    assert file.options["db"]["max_background_jobs"] == "2"
    assert file.account.counts() == {"used": 2}
    assert file.account.file_version == "7.10.2"


def test_a_file_kept_by_hand(linked: LinkedRocksDb) -> None:
    file = read(linked, "by-hand-no-final-newline")
    assert file.options["cf"]["write_buffer_size"] == "67108864"
    assert file.options["db"]["max_background_jobs"] == "12"
    assert file.options["table"]["block_size"] == "8192"
    assert entry(file, "compaction_readahead_size").given == "0"
    assert entry(file, "write_buffer_size").fate is Fate.TRANSLATED
    wal = entry(file, "wal_dir")
    assert (wal.fate, wal.given) == (Fate.OVERRIDDEN, "/var/lib/service/wal")
    assert "wal_dir" not in file.options["db"]
    assert entry(file, "compaction_options_fifo.ttl").fate is Fate.WITHOUT_EFFECT
    assert entry(file, "compaction_options_fifo.allow_compaction").fate is Fate.USED
    assert entry(file, "read_amp_bytes_per_bit").value == "0"
    assert entry(file, "filter_policy").value == "bloomfilter:10:false"
    (note,) = file.account.notes
    assert "10 bits a key are assumed" in note


def test_a_newer_file(linked: LinkedRocksDb) -> None:
    file = read(linked, "newer-suboption")
    assert file.options["table"]["filter_policy"] == "bloomfilter:10:false"
    filter_policy = entry(file, "filter_policy")
    assert (filter_policy.fate, filter_policy.value) == (Fate.TRANSLATED, "bloomfilter:10:false")
    assert "level=3" in file.options["cf"]["bottommost_compression_opts"]
    assert entry(file, "bottommost_compression_opts").fate is Fate.USED
    unknown = {each.name: each.why for each in file.account.with_fate(Fate.UNKNOWN)}
    version = RocksDbVersion.of(linked.version)
    if version < RocksDbVersion.of("8.6"):
        assert unknown == {
            "bottommost_compression_opts.checksum": "it came with RocksDB 8.6",
            "default_write_temperature": "it came with RocksDB 9.1",
        }
    elif version >= RocksDbVersion.of("9.1"):
        assert unknown == {}


def test_classes_that_only_an_application_has(linked: LinkedRocksDb) -> None:
    file = read(linked, "foreign-classes")
    foreign = {each.name for each in file.account.with_fate(Fate.FOREIGN)}
    assert foreign == {
        "comparator",
        "merge_operator",
        "prefix_extractor",
        "compaction_filter_factory",
        "table_properties_collectors",
        "table_properties_collectors[1]",
        "table_properties_collectors[1].id",
        "sst_partitioner_factory",
        "filter_policy",
    }
    assert entry(file, "table_properties_collectors[0]").fate is Fate.USED
    assert "CompactOnDeletionCollector" in file.options["cf"]["table_properties_collectors"]
    assert "acme" not in str(file.options)
    said = " ".join(file.account.notes)
    for name in ("OrderedIdComparator", "CounterMerge", "TenantPrefix", "ExpiryFilterFactory", "Partitioner"):
        assert f"acme.{name}" in said
    assert "Keys are compared by RocksDB's bytewise order" in said


def test_options_that_are_long_gone(linked: LinkedRocksDb) -> None:
    file = read(linked, "long-gone-options")
    assert file.options["db"]["max_background_compactions"] == "8"
    gone = {each.name: each.why for each in file.account.with_fate(Fate.WITHOUT_EFFECT)}
    assert set(gone) == {
        "skip_log_error_on_recovery",
        "disableDataSync",
        "memtable_prefix_bloom_probes",
        "source_compaction_factor",
        "max_grandparent_overlap_factor",
        "soft_rate_limit",
        "hard_rate_limit",
        "verify_checksums_in_compaction",
        "filter_deletes",
    }
    assert all(why.startswith("no effect since RocksDB ") for why in gone.values())
    translated = {each.name: each.value for each in file.account.with_fate(Fate.TRANSLATED)}
    assert translated == {
        "use_direct_writes": "use_direct_io_for_flush_and_compaction=false",
        "memtable_prefix_bloom_bits": "memtable_prefix_bloom_size_ratio=0.000015",
        "expanded_compaction_factor": "max_compaction_bytes=1677721600",
    }
    assert file.options["cf"]["max_compaction_bytes"] == "1677721600"


def test_pebbles_file_is_refused_as_what_it_is(linked: LinkedRocksDb) -> None:
    with pytest.raises(OptionsFileError, match="OPTIONS file of Pebble"):
        read(linked, "not-rocksdb-pebble")


def test_three_families_ask_for_a_choice(linked: LinkedRocksDb) -> None:
    with pytest.raises(OptionsFileError) as refusal:
        read(linked, "three-families-empty-default")
    message = str(refusal.value)
    assert "'default' (no options), 'nodes' (5 options), 'edges' (5 options)" in message
    assert message.endswith("choose the one to measure with --column-family NAME")
    with pytest.raises(OptionsFileError, match="no column family 'node', only 'default'"):
        read(linked, "three-families-empty-default", "node")


def test_the_chosen_family_is_read_and_the_others_are_named(linked: LinkedRocksDb) -> None:
    nodes = read(linked, "three-families-empty-default", "nodes")
    assert nodes.options["cf"]["write_buffer_size"] == "134217728"
    assert "HashLinkListRepFactory" in nodes.options["cf"]["memtable_factory"]
    assert nodes.options["table"]["index_type"] == "kHashSearch"
    assert nodes.other_families == ("default", "edges")
    assert nodes.block_caches == {"nodes": "2147483648", "edges": "2147483648"}
    left = nodes.account.with_fate(Fate.NOT_MEASURED)
    assert {each.family for each in left} == {"edges"}
    edges = read(linked, "three-families-empty-default", "edges")
    per_level = entry(edges, "compression_per_level")
    assert per_level.fate is Fate.ADJUSTED
    assert per_level.why == "8 compression types for 5 levels; RocksDB uses the first 5"
    assert edges.options["cf"]["compression_per_level"].count(":") == 4
