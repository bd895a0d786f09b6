import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.space import CATALOGUE, OptionMaps, merged_options, scaled_options
from rocktune.space.options import knob_values

MIB = 1 << 20
GIB = 1 << 30

FULL: OptionMaps = {
    "db": {"bytes_per_sync": str(MIB), "max_total_wal_size": str(GIB), "delayed_write_rate": str(16 * MIB)},
    "cf": {
        "write_buffer_size": str(64 * MIB),
        "max_bytes_for_level_base": str(256 * MIB),
        "target_file_size_base": str(64 * MIB),
        "max_compaction_bytes": "0",
        "arena_block_size": str(MIB),
        "num_levels": "7",
        "soft_pending_compaction_bytes_limit": "0",
        "compaction_options_fifo": "{allow_compaction=false;max_table_files_size=1073741824;}",
    },
    "table": {"block_size": "4096", "block_cache": str(616 * MIB), "filter_policy": "bloomfilter:10:false"},
}


def test_scale_1_changes_nothing() -> None:
    assert scaled_options(FULL, 1) == FULL


def test_sizes_are_divided_and_nothing_else_is() -> None:
    model = scaled_options(FULL, 64)
    assert model["db"] == FULL["db"] | {"max_total_wal_size": str(16 * MIB)}
    assert model["table"] == FULL["table"] | {"block_cache": str(616 * MIB // 64)}
    assert model["cf"] == {
        "write_buffer_size": str(MIB),
        "max_bytes_for_level_base": str(4 * MIB),
        "target_file_size_base": str(MIB),
        "max_compaction_bytes": "0",
        "arena_block_size": str(16 * 1024),
        "num_levels": "7",
        "soft_pending_compaction_bytes_limit": "0",
        # Absent, so RocksDB's 256 GiB divided by 64; likewise 256 MiB of blob file.
        "hard_pending_compaction_bytes_limit": str(4 * GIB),
        "blob_file_size": str(4 * MIB),
        "compaction_options_fifo": "{allow_compaction=false;max_table_files_size=16777216;}",
    }


@pytest.mark.parametrize(
    ("full", "model"),
    [
        (
            "{id=HashLinkListRepFactory;bucket_count=100000;threshold=3;}",
            "{id=HashLinkListRepFactory;bucket_count=1563;threshold=3;}",
        ),
        ("prefix_hash:6400", "prefix_hash:100"),
        ("hash_linkedlist:64", "hash_linkedlist:1"),
        ("{id=SkipListFactory;lookahead=64;}", "{id=SkipListFactory;lookahead=64;}"),
        ("SkipListFactory", "SkipListFactory"),
    ],
)
def test_buckets_of_hash_memtables_are_divided(full: str, model: str) -> None:
    options: OptionMaps = {"cf": {"memtable_factory": full}}
    assert scaled_options(options, 64)["cf"]["memtable_factory"] == model


def test_what_is_absent_gets_a_share_of_the_default() -> None:
    model = scaled_options({}, 64)
    assert model == {
        "db": {},
        "cf": {
            "write_buffer_size": str(MIB),
            "max_bytes_for_level_base": str(4 * MIB),
            "target_file_size_base": str(MIB),
            "soft_pending_compaction_bytes_limit": str(GIB),
            "hard_pending_compaction_bytes_limit": str(4 * GIB),
            "blob_file_size": str(4 * MIB),
        },
        "table": {"block_cache": str(128 * 1024)},
    }


def test_no_cache_stays_without_one() -> None:
    assert scaled_options({"table": {"no_block_cache": "true"}}, 2)["table"] == {"no_block_cache": "true"}


def test_floors() -> None:
    model = scaled_options({"cf": {"write_buffer_size": str(MIB), "arena_block_size": str(64 * 1024)}}, 512)
    assert model["cf"]["write_buffer_size"] == str(64 * 1024)
    assert model["cf"]["arena_block_size"] == "4096"
    # The smallest write buffer of Dremel's space reaches the floor at the largest scale, and not before.
    assert scaled_options({"cf": {"write_buffer_size": str(32 * MIB)}}, 512)["cf"][
        "write_buffer_size"
    ] == str(64 * 1024)


@pytest.mark.parametrize("name", ["ttl", "periodic_compaction_seconds"])
@pytest.mark.parametrize(
    ("given_s", "scaled_s"),
    [
        ("3600", "14"),
        ("100", "1"),
        ("0", "0"),
        # RocksDB's name for an age of its own choice.
        ("18446744073709551614", "18446744073709551614"),
    ],
)
def test_ages_of_tables_are_divided(name: str, given_s: str, scaled_s: str) -> None:
    model = scaled_options({"cf": {name: given_s}, "cf:users": {name: given_s}}, 256)
    assert model["cf"][name] == model["cf:users"][name] == scaled_s
    assert name not in scaled_options({}, 256)["cf"]


def test_text_that_is_no_size_is_left_alone() -> None:
    assert scaled_options({"table": {"block_cache": "nullptr"}}, 2)["table"]["block_cache"] == "nullptr"


@settings(max_examples=60)
@given(
    small=st.integers(0, 1 << 40),
    more=st.integers(0, 1 << 40),
    scale=st.integers(1, 512),
    factor=st.integers(1, 8),
    name=st.sampled_from([knob.name for knob in CATALOGUE.values() if knob.scaled]),
)
def test_scaling_is_monotone(small: int, more: int, scale: int, factor: int, name: str) -> None:
    knob = CATALOGUE[name]

    def scaled(value: int, divisor: int) -> int:
        return int(
            scaled_options({knob.section: {knob.option_name: str(value)}}, divisor)[knob.section][
                knob.option_name
            ]
        )

    if small > 0:
        assert scaled(small, scale) <= scaled(small + more, scale)
        assert (
            scaled(small, scale * factor) <= scaled(small, scale) or scaled(small, scale) < knob.scaled_floor
        )
        assert abs(scaled(small, scale) - small / scale) <= 0.5 or scaled(small, scale) == knob.scaled_floor
    else:
        assert scaled(0, scale) == 0


def test_merging_lays_later_maps_on_top_and_shares_nothing() -> None:
    lower: OptionMaps = {"db": {"a": "1", "b": "1"}}
    merged = merged_options(lower, {"db": {"b": "2"}, "cf": {"c": "3"}})
    assert merged == {"db": {"a": "1", "b": "2"}, "cf": {"c": "3"}, "table": {}}
    merged["db"]["a"] = "9"
    assert lower["db"]["a"] == "1"


@pytest.mark.parametrize(
    ("given_options", "compactions", "flushes"),
    [
        ({}, 1, 1),
        ({"max_background_jobs": "8"}, 6, 2),
        ({"max_background_jobs": "1"}, 1, 1),
        ({"max_background_jobs": "8", "max_background_compactions": "4"}, 4, 1),
        (
            {"max_background_jobs": "8", "max_background_compactions": "-1", "max_background_flushes": "3"},
            1,
            3,
        ),
    ],
)
def test_background_threads_are_what_rocksdb_makes_of_them(
    given_options: dict[str, str], compactions: int, flushes: int
) -> None:
    # RocksDB's DBImpl::GetBGJobLimits: a quarter of the jobs flush, unless either number is given.
    values = knob_values({"db": given_options}, CATALOGUE.values())
    assert (values["max_background_compactions"], values["max_background_flushes"]) == (compactions, flushes)


def test_absent_options_have_rocksdbs_defaults() -> None:
    values = knob_values({}, CATALOGUE.values())
    assert values["num_levels"] == 7
    assert values["level0_stop_writes_trigger"] == 36
    assert values["bloom_bits"] == 0


def test_unreadable_option_is_named() -> None:
    with pytest.raises(UserError, match="num_levels: 'seven' is not a number"):
        knob_values({"cf": {"num_levels": "seven"}}, CATALOGUE.values())
