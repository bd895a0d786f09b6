"""A version that stands for another one gets its defaults."""

from dataclasses import replace

import pytest

from rocktune.importing.stand_in import StandIn, standing_for
from rocktune.space import OptionMaps
from rocktune.testing.own_options import imported_options

READAHEAD = "db.compaction_readahead_size"
LOCKING = "cf.compaction_options_universal.reduce_file_locking"
LATE: OptionMaps = {
    "db": {"compaction_readahead_size": "2097152"},
    "cf": {"compaction_options_universal": "{size_ratio=1;reduce_file_locking=true;}", "ttl": "0"},
    "table": {"format_version": "7", "block_cache": "64"},
}
"""What RocksDB 11.8.1 reads in a file, as far as these tests look."""


def stand_in(wanted: str, measured: str = "11.8.1", stated: str = "", options: OptionMaps = LATE) -> StandIn:
    """Lets a version stand for another one; the file states one option at most."""
    file = imported_options(options)
    section, _, name = stated.partition(".")
    entry = file.account.entries[0].model_copy(update={"section": section, "name": name})
    account = file.account.model_copy(update={"entries": (entry,) if stated else ()})
    return standing_for(replace(file, account=account), wanted, measured)


def test_a_newer_version_gets_the_old_defaults() -> None:
    found = stand_in("8.5")
    assert set(found.given) == {READAHEAD, LOCKING, "table.format_version"}
    options = found.read.options
    assert options["db"]["compaction_readahead_size"] == "0"
    assert options["cf"]["compaction_options_universal"] == "{size_ratio=1;reduce_file_locking=false;}"
    assert options["table"]["format_version"] == "5"
    # What the file does not say of a cache is not said here.
    assert options["table"]["block_cache"] == "64"
    assert options["cf"]["ttl"] == "0"
    assert "table.block_cache (10.7)" in found.left
    assert "cf.periodic_compaction_seconds (8.6)" in found.left


def test_an_older_version_gets_the_new_defaults() -> None:
    found = stand_in("9.1", measured="8.6.0", options={"db": {}, "cf": {}, "table": {"format_version": "5"}})
    assert found.given == ("table.format_version",)
    assert found.read.options["table"]["format_version"] == "6"
    # 8.6.0 does not have the option in these tests.
    assert f"{READAHEAD} (8.6.1)" in found.left


@pytest.mark.parametrize("stated", [READAHEAD, LOCKING, "table.format_version", "cf.ttl"])
def test_what_the_file_states_stays(stated: str) -> None:
    found = stand_in("8.5", stated=stated)
    section, name, *_ = stated.split(".")
    assert found.read.options[section][name] == LATE[section][name]
    assert stated not in found.given
    assert len(found.given) == (3 if stated == "cf.ttl" else 2)


def test_a_setting_that_stated_braces_leave_out_is_left_out() -> None:
    assert LOCKING in stand_in("8.5", stated="cf.compaction_options_universal").given


def test_equal_lines_need_nothing() -> None:
    assert stand_in("11.8") == stand_in("11.8.0") == StandIn(stand_in("11.8").read)
