import tomllib

from tests.export.samples import TUNED, changed, comments, exported

LZ4 = ["lz4"] * 7


def test_tables_names_and_units() -> None:
    assert tomllib.loads(exported("tikv")) == {
        "storage": {"block-cache": {"capacity": "646000000B"}},
        "rocksdb": {
            "max-background-jobs": 5,  # 3 compactions + 2 flushes; TiKV gives the rest to compactions
            "max-background-flushes": 2,
            "max-sub-compactions": 2,
            "max-open-files": -1,
            "bytes-per-sync": "1MB",
            "defaultcf": {
                "write-buffer-size": "48MB",
                "max-bytes-for-level-base": "384MB",
                "target-file-size-base": "32MB",
                "soft-pending-compaction-bytes-limit": "96GB",
                "block-size": "8KB",
                "max-write-buffer-number": 4,
                "min-write-buffer-number-to-merge": 2,
                "level0-file-num-compaction-trigger": 6,
                "level0-slowdown-writes-trigger": 12,
                "level0-stop-writes-trigger": 21,
                "max-bytes-for-level-multiplier": 8,
                "num-levels": 6,
                "dynamic-level-bytes": False,
                "cache-index-and-filter-blocks": False,
                "compaction-style": 0,
                "compaction-pri": 3,
                "compression-per-level": LZ4,
                "bottommost-level-compression": "lz4",
                "use-bloom-filter": True,
                "bloom-filter-bits-per-key": 10,
            },
        },
    }


def test_flow_control_is_told_with_the_values_that_come_nearest() -> None:
    told = comments(exported("tikv"))
    assert "l0-files-threshold = 12 (by default 20)" in told
    assert 'soft-pending-compaction-bytes-limit = "96GB" (by default "192GB")' in told
    assert "memtables-threshold = 4 (by default 5)" in told
    assert "compaction-guard-max-output-file-size" in told


def test_more_levels_than_tikv_starts_with_are_not_taken_over() -> None:
    text = exported("tikv", changed("cf", num_levels="10"))
    assert "num-levels" not in tomllib.loads(text)["rocksdb"]["defaultcf"]
    assert "- num_levels=10: must be from 1 to 7 there" in comments(text)


def test_fraction_of_a_bit_is_not_taken_over() -> None:
    text = exported("tikv", changed("table", filter_policy="bloomfilter:9.5:false"))
    assert "use-bloom-filter" not in tomllib.loads(text)["rocksdb"]["defaultcf"]
    assert "- filter_policy=bloomfilter:9.5:false: must be a whole number there" in comments(text)


def test_tables_without_settings_are_left_out() -> None:
    text = exported("tikv", {"cf": {"write_buffer_size": "67108864"}})
    assert tomllib.loads(text) == {"rocksdb": {"defaultcf": {"write-buffer-size": "64MB"}}}


def test_jobs_are_kept_where_rocksdb_divides_them() -> None:
    found = tomllib.loads(exported("tikv", TUNED | {"db": {"max_background_jobs": "6"}}))["rocksdb"]
    assert found["max-background-jobs"] == 6
    assert "max-background-flushes" not in found
