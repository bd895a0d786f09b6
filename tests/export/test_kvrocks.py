import pytest
from tests.export.samples import changed, comments, exported, settings

from rocktune.errors import UserError


def test_names_and_units() -> None:
    found = settings(exported("kvrocks"), " ")
    assert {name.removeprefix("rocksdb."): value for name, value in found.items()} == {
        "block_cache_size": "616",  # MB; 646000000 / 1048576 = 616.07
        "max_open_files": "-1",
        "write_buffer_size": "48",  # MB
        "max_write_buffer_number": "4",
        "min_write_buffer_number_to_merge": "2",
        "target_file_size_base": "32",  # MB
        "max_background_compactions": "3",
        "max_background_flushes": "2",
        "max_subcompactions": "2",
        "block_size": "8192",  # bytes
        "cache_index_and_filter_blocks": "no",
        "level0_slowdown_writes_trigger": "12",
        "level0_stop_writes_trigger": "21",
        "level0_file_num_compaction_trigger": "6",
        "level_compaction_dynamic_level_bytes": "no",
        "max_bytes_for_level_base": "402653184",  # bytes: 384 * 1048576
        "max_bytes_for_level_multiplier": "8",
        "compression": "lz4",
        "compression_start_level": "0",
    }


def test_what_kvrocks_sets_itself_is_listed_where_it_differs() -> None:
    told = comments(exported("kvrocks"))
    assert "- num_levels=6: always 7 there" in told
    assert "- target_file_size_multiplier=2: always 1 there" in told
    assert "filter_policy" not in told
    assert "- soft_pending_compaction_bytes_limit=103079215104: no such setting" in told


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("target_file_size_base", str(1025 << 20), "must be from 1 to 1024 there"),
        ("max_bytes_for_level_multiplier", "8.5", "must be a whole number there"),
        ("compression", "kLZ4HCCompression", "there is no such value there"),
    ],
)
def test_value_out_of_kvrocks_range_is_listed(name: str, text: str, reason: str) -> None:
    written = exported("kvrocks", changed("cf", **{name: text}))
    assert f"rocksdb.{name}" not in settings(written, " ")
    assert f"- {name}={text}: {reason}" in comments(written)


def test_other_compaction_styles_are_refused() -> None:
    with pytest.raises(
        UserError, match="has only leveled compaction, and the study's is kCompactionStyleFIFO"
    ):
        exported("kvrocks", changed("cf", compaction_style="kCompactionStyleFIFO"))
