import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.space import (
    FamilyEntries,
    Space,
    Value,
    load_space,
    space_document,
    space_from_document,
    with_deletes,
)
from rocktune.testing.spaces import SpaceConformance

MIB = 1 << 20
DURABILITY = {"sync", "disable_wal", "manual_wal_flush", "checksum", "wal_recovery_mode", "paranoid_checks"}
DELETES = with_deletes(space_document("full"))
NOT_ON_AN_EMULATED_DEVICE = {"compaction_readahead_size", "bytes_per_sync", "use_direct_reads"}


class TestFullSpace(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        return load_space("full", None, 1e7)


class TestFullSpaceWithLittleMemory(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        return load_space("full", 128 * MIB, 1e6)


class TestFullSpaceOfDeletes(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        return space_from_document(DELETES, None, 1e7)


class TestFullSpaceOfFamiliesWithDeletes(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        families = (FamilyEntries("users", 4e6), FamilyEntries("events", 1e6))
        return space_from_document(DELETES, 2000 * MIB, 0.0, families=families)


class TestFullSpaceOfFamilies(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        families = (FamilyEntries("users", 4e6), FamilyEntries("events", 1e6))
        return space_from_document(space_document("full"), 2000 * MIB, 0.0, families=families)


def test_both_styles_are_drawn_with_their_own_knobs() -> None:
    drawn = load_space("full", None, 1e7).sample(400, np.random.default_rng(0))
    universal = [each for each in drawn if each["compaction_style"] == "kCompactionStyleUniversal"]
    assert len(universal) > 100
    for each in universal:
        assert "universal_size_ratio" in each
        assert "max_bytes_for_level_base" not in each
    # Rule 8 makes leveled configurations rarer; they still are not a corner of the space.
    leveled = [each for each in drawn if "max_bytes_for_level_base" in each]
    assert len(leveled) == len(drawn) - len(universal) > 20
    assert not any("universal_size_ratio" in each for each in leveled)


def test_neither_durability_nor_what_the_device_hides_is_a_knob() -> None:
    names = {knob.option_name for knob in load_space("full", None, 0).knobs}
    assert names.isdisjoint(DURABILITY | NOT_ON_AN_EMULATED_DEVICE)


def test_options_of_both_styles() -> None:
    space = load_space("full", None, 1e7)
    leveled = space.options(space.default())
    assert leveled["cf"]["max_bytes_for_level_base"] == str(256 * MIB)
    assert "compaction_options_universal" not in leveled["cf"]
    values = dict(space.default()) | {
        "compaction_style": "kCompactionStyleUniversal",
        "universal_size_ratio": 20,
    }
    universal = space.options(space.activated(values))
    assert universal["cf"]["compaction_options_universal"] == (
        "{size_ratio=20;min_merge_width=2;max_merge_width=4294967295;max_size_amplification_percent=200;"
        "max_read_amp=-1}"
    )
    assert "max_bytes_for_level_base" not in universal["cf"]


def test_options_that_several_knobs_share() -> None:
    space = load_space("full", None, 1e7)
    values: dict[str, Value] = {
        "filter_kind": "ribbon",
        "bloom_bits": 16,
        "index_type": "kTwoLevelIndexSearch",
        "partition_pinning": "kAll",
        "bottommost_compression": "kZSTD",
        "bottommost_compression_level": 6,
        "compression": "kZSTD",
        "zstd_per_level": "kNoCompression:kZSTD",
    }
    options = space.options(space.activated(dict(space.default()) | values))
    assert options["table"]["filter_policy"] == "ribbonfilter:16"
    assert (
        options["table"]["metadata_cache_options"] == "{top_level_index_pinning=kAll;partition_pinning=kAll}"
    )
    assert options["cf"]["bottommost_compression_opts"] == "{level=6;enabled=true}"
    assert options["cf"]["compression_per_level"] == "kNoCompression:kZSTD"
    assert options["cf"]["compression_opts"] == "{level=3}"


def test_filters_lie_in_the_block_cache_and_must_fit_into_it() -> None:
    space = load_space("full", 1000 * MIB, 1e8)
    default = space.default()
    cache_bytes = int(space.options(default)["table"]["block_cache"])
    memtable_bytes = int(default["write_buffer_size"]) * int(default["max_write_buffer_number"])
    assert cache_bytes == 1000 * MIB - memtable_bytes
    assert space.memory_shares(space.options(default)).total_bytes == 1000 * MIB
    # 1e8 keys * 20 bits are 238 MiB, so at most 378 of 1000 MiB are left for memtables.
    small = {"bloom_bits": 20, "max_write_buffer_number": 4, "write_buffer_size": 94 * MIB}
    level1 = {"max_bytes_for_level_base": 752 * MIB}
    space.validate(default.replaced(small | level1))
    with pytest.raises(UserError, match=r"rule 4 .*filters 238\.4MiB"):
        space.validate(default.replaced(small | level1 | {"write_buffer_size": 96 * MIB}))


def test_the_users_own_uncached_filters_are_counted_beside_the_cache() -> None:
    own = {"db": {}, "cf": {}, "table": {"cache_index_and_filter_blocks": "false"}}
    space = space_from_document(space_document("full"), 1000 * MIB, 1e7, own)
    shares = space.memory_shares(space.options(space.default()))
    assert shares.filter_bytes == 12_500_000
    assert shares.total_bytes == 1000 * MIB


@pytest.mark.parametrize("own", [{}, {"max_background_flushes": "3"}])
def test_columns_have_the_threads_into_which_jobs_are_divided(own: dict[str, str]) -> None:
    base = {"db": own, "cf": {}, "table": {}}
    space = space_from_document(space_document("full"), None, 1e7, base)
    jobs = [space.default().replaced({"max_background_jobs": number}) for number in (2, 3, 8, 16)]
    columns = space.columns(jobs)
    # A quarter, rounded down and at least one, flushes.
    assert columns["max_background_flushes"].tolist() == [1, 1, 2, 4]
    assert columns["max_background_compactions"].tolist() == [1, 2, 6, 12]


def test_knobs_override_the_users_options_that_rocksdb_prefers() -> None:
    own = {
        "db": {"max_background_compactions": "4", "max_background_flushes": "-1"},
        "cf": {
            "compression_per_level": "kNoCompression:kSnappyCompression",
            "bottommost_compression_opts": "{enabled=false;level=9;max_dict_bytes=7}",
        },
        "table": {"filter_policy": "bloomfilter:8:false"},
    }
    space = space_from_document(space_document("full"), None, 1e7, own)
    options = space.options(space.default().replaced({"max_background_jobs": 5}))
    assert options["db"]["max_background_jobs"] == "5"
    assert options["db"].keys().isdisjoint(own["db"])
    # The default's own, which its condition makes active.
    assert options["cf"]["compression_per_level"] == "kLZ4Compression"
    none = space.activated(dict(space.default()) | {"compression": "kNoCompression"})
    assert "compression_per_level" not in space.options(none)["cf"]
    values: dict[str, Value] = {
        "filter_kind": "ribbon",
        "bottommost_compression": "kZSTD",
        "bottommost_compression_level": 6,
    }
    others = space.options(space.activated(dict(space.default()) | values))
    assert others["table"]["filter_policy"] == "ribbonfilter:10"
    assert others["cf"]["bottommost_compression_opts"] == "{enabled=true;level=6;max_dict_bytes=7}"


def test_filters_are_counted_where_the_options_put_them() -> None:
    space = load_space("full", 1000 * MIB, 1e7)
    cached = space.options(space.default())
    # RocksDB's own default leaves them outside the cache, whatever the space pins.
    outside = {section: dict(texts) for section, texts in cached.items()}
    del outside["table"]["cache_index_and_filter_blocks"]
    assert space.memory_shares(cached).filter_bytes == 0
    assert space.memory_shares(outside).filter_bytes == 12_500_000


def test_workloads_that_delete_have_knobs_of_ages() -> None:
    plain, space = load_space("full", None, 1e7), space_from_document(DELETES, None, 1e7)
    added = {knob.name for knob in space.knobs} - {knob.name for knob in plain.knobs}
    assert added == {
        "periodic_compaction_seconds",
        "universal_periodic_compaction_seconds",
        "ttl",
        "memtable_op_scan_flush_trigger",
        "memtable_avg_op_scan_flush_trigger",
    }
    leveled = space.options(space.default())["cf"]
    assert (leveled["periodic_compaction_seconds"], leveled["ttl"]) == ("0", "2592000")
    assert "memtable_avg_op_scan_flush_trigger" not in leveled
    universal = space.activated(dict(space.default()) | {"compaction_style": "kCompactionStyleUniversal"})
    assert space.options(universal)["cf"]["periodic_compaction_seconds"] == "2592000"
    assert "ttl" not in space.options(universal)["cf"]


def test_other_spaces_have_no_knobs_of_ages() -> None:
    assert with_deletes(space_document("dremel")) == {"name": "dremel"}
    file = {"name": "mine.toml", "file": {"base": "full", "fixed": {"cf": {"ttl": 0}}}}
    space = space_from_document(with_deletes(file), None, 1e7)
    assert "periodic_compaction_seconds" in space.default()
    assert "ttl" not in space.default()
    assert with_deletes({"name": "mine.toml", "file": {}}) == {"name": "mine.toml", "file": {}}


@pytest.mark.parametrize(("style", "ttl"), [("Level", "7200"), ("Universal", None)])
def test_the_users_ttl_is_no_second_age_of_universal_compaction(style: str, ttl: str | None) -> None:
    own = {"db": {}, "cf": {"ttl": "7200", "periodic_compaction_seconds": "3600"}, "table": {}}
    space = space_from_document(DELETES, None, 1e7, own)
    baseline = space.configuration_from_options(own)
    assert (baseline["periodic_compaction_seconds"], baseline["ttl"]) == (3600, 7200)
    values = dict(baseline) | {"compaction_style": f"kCompactionStyle{style}"}
    assert space.options(space.activated(values))["cf"].get("ttl") == ttl


def test_ages_that_are_left_to_the_release_are_those_it_takes() -> None:
    release = "18446744073709551614"
    own = {"db": {}, "cf": {"ttl": release, "periodic_compaction_seconds": release}, "table": {}}
    space = space_from_document(DELETES, None, 1e7, own)
    baseline = space.configuration_from_options(own)
    assert (baseline["periodic_compaction_seconds"], baseline["ttl"]) == (0, 2592000)
    universal = own | {"cf": own["cf"] | {"compaction_style": "kCompactionStyleUniversal"}}
    found = space.configuration_from_options(universal)
    assert found["universal_periodic_compaction_seconds"] == 2592000
