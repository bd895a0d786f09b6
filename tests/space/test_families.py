"""Spaces in which several column families have knobs of their own."""

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.space import FamilyEntries, Space, scaled_options, space_document, space_from_document
from rocktune.testing.spaces import SpaceConformance
from rocktune.units import MIB

FAMILIES = (FamilyEntries("users", 4e6), FamilyEntries("events.2024", 1e6))


def space_of(name: str = "dremel", memory_bytes: int = 2000 * MIB) -> Space:
    return space_from_document(space_document(name), memory_bytes, 0.0, families=FAMILIES)


def test_each_family_has_the_familys_knobs_and_the_database_its_own() -> None:
    names = {knob.name for knob in space_of().knobs}
    assert {"users.write_buffer_size", "events.2024.write_buffer_size", "max_background_flushes"} <= names
    assert "write_buffer_size" not in names
    assert "users.max_background_flushes" not in names


class TestSpaceOfFamilies(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        return space_of()


def test_options_are_the_families_own_and_the_cache_is_shared() -> None:
    space = space_of()
    configuration = space.default().replaced(
        {"users.write_buffer_size": 32 * MIB, "users.max_write_buffer_number": 4}
    )
    space.validate(configuration)
    options = space.options(configuration)
    assert options["cf:users"]["write_buffer_size"] == str(32 * MIB)
    assert options["cf:events.2024"]["write_buffer_size"] == str(64 * MIB)
    assert options["cf"] == {}
    assert list(options["table"]) == ["block_cache"]
    memtables = 4 * 32 * MIB + 6 * 64 * MIB
    filters = 10 * 5e6 / 8
    shares = space.memory_shares(options)
    assert shares.memtable_bytes == memtables
    assert shares.filter_bytes == filters
    assert int(options["table"]["block_cache"]) == 2000 * MIB - memtables - filters
    assert shares.total_bytes == space.memory_bytes
    assert space.configuration_from_options(options) == configuration


def test_rules_hold_for_each_family_and_name_it() -> None:
    space = space_of()
    broken = space.broken_rules(space.default().replaced({"events.2024.level0_stop_writes_trigger": 30}))
    assert len(broken) == 1
    assert broken[0].startswith(
        "rule 2 (events.2024: level0_stop_writes_trigger at most 24) is broken: it is 30"
    )
    # The memory budget is one for all.
    broken = space.broken_rules(space.default().replaced({"users.write_buffer_size": 256 * MIB}))
    assert "6 write buffers of 256MiB and 6 write buffers of 64MiB take 1.875GiB" in broken[0]


def test_defaults_fit_a_small_budget() -> None:
    space = space_of(memory_bytes=600 * MIB)
    default = space.default()
    space.validate(default)
    assert default["users.write_buffer_size"] == default["events.2024.write_buffer_size"]
    with pytest.raises(UserError, match="a memory budget of 4MiB is too small"):
        space_of(memory_bytes=4 * MIB)


def test_own_options_replace_those_that_are_no_knobs() -> None:
    own = {
        "db": {"max_background_jobs": "8"},
        "cf": {},
        "table": {"block_cache": str(700 * MIB)},
        "cf:users": {"write_buffer_size": str(16 * MIB), "compression": "kZSTD"},
        "table:users": {"block_size": "8192"},
        "cf:events.2024": {"compression": "kNoCompression"},
        "table:events.2024": {},
    }
    space = space_from_document(space_document("dremel"), 2000 * MIB, 0.0, own, FAMILIES)
    options = space.options(space.default())
    assert options["cf:users"]["compression"] == "kZSTD"
    assert options["cf:events.2024"]["compression"] == "kNoCompression"
    baseline = space.configuration_from_options(own)
    assert baseline["users.write_buffer_size"] == 16 * MIB
    assert baseline["users.block_size"] == 8192
    assert baseline["events.2024.write_buffer_size"] == 64 * MIB  # RocksDB's default


def test_a_model_divides_the_sizes_of_each_family() -> None:
    options = {
        "db": {},
        "cf": {},
        "table": {"block_cache": "6400"},
        "cf:users": {"write_buffer_size": str(64 * MIB), "num_levels": "5"},
        "table:users": {"block_size": "4096"},
    }
    model = scaled_options(options, 64)
    assert model["cf:users"] == {"write_buffer_size": str(MIB), "num_levels": "5"}
    assert model["table:users"] == {"block_size": "4096"}
    assert model["table"]["block_cache"] == "100"


@pytest.mark.parametrize("name", ["flsm"])
def test_what_has_one_family_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="cannot be tuned for several column families together"):
        space_of(name)


def test_samples_are_valid_and_differ_between_families() -> None:
    space = space_of()
    drawn = space.sample(50, np.random.default_rng(1))
    assert any(each["users.write_buffer_size"] != each["events.2024.write_buffer_size"] for each in drawn)
    for configuration in drawn:
        space.validate(configuration)
