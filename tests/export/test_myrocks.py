import shutil
import subprocess
from pathlib import Path

import pytest
from tests.export.samples import (
    TUNED,
    changed,
    comments,
    expected,
    exported,
    read_back,
    settings,
    written_options,
)

from rocktune.space import OptionMaps

SERVER = shutil.which("mariadbd")
PLUGINS = Path(SERVER).parent.parent / "lib/mysql/plugin" if SERVER else Path()


def test_variables_and_column_family_options() -> None:
    found = settings(exported("myrocks"), "=")
    family = found.pop("rocksdb_default_cf_options")
    assert found == {
        "rocksdb_block_cache_size": "646000000",
        "rocksdb_max_background_jobs": "5",  # 3 compactions + 2 flushes, where the next two are not known
        "loose_rocksdb_max_background_compactions": "3",
        "loose_rocksdb_max_background_flushes": "2",
        "rocksdb_max_subcompactions": "2",
        "rocksdb_max_open_files": "-1",
        "rocksdb_block_size": "8192",
        "rocksdb_bytes_per_sync": "1048576",
        "rocksdb_allow_mmap_reads": "OFF",
        "rocksdb_cache_index_and_filter_blocks": "OFF",
    }
    assert family == (
        '"write_buffer_size=50331648;max_write_buffer_number=4;min_write_buffer_number_to_merge=2;'
        "level0_file_num_compaction_trigger=6;level0_slowdown_writes_trigger=12;"
        "level0_stop_writes_trigger=21;num_levels=6;max_bytes_for_level_base=402653184;"
        "target_file_size_base=33554432;target_file_size_multiplier=2;"
        "soft_pending_compaction_bytes_limit=103079215104;max_bytes_for_level_multiplier=8;"
        "level_compaction_dynamic_level_bytes=false;compression=kLZ4Compression;"
        "compaction_style=kCompactionStyleLevel;compaction_pri=kMinOverlappingRatio;"
        'block_based_table_factory={filter_policy=bloomfilter:10:false}"'
    )


def test_read_only_defaults_are_told() -> None:
    told = comments(exported("myrocks"))
    assert "rocksdb_default_cf_options and most variables are read-only" in told
    assert "Left out" not in told


def test_option_that_is_no_variable_is_listed() -> None:
    told = comments(exported("myrocks", changed("db", enable_pipelined_write="true")))
    assert "- enable_pipelined_write=true: no such setting" in told


@pytest.mark.skipif(
    not (PLUGINS / "ha_rocksdb.so").exists(),
    reason="MariaDB with MyRocks is not installed (mariadb-plugin-rocksdb)",
)
def test_server_opens_its_store_with_exactly_these_options(tmp_path: Path) -> None:
    file, data = tmp_path / "my.cnf", tmp_path / "data"
    file.write_text(exported("myrocks"))
    data.mkdir()
    done = subprocess.run(
        [
            str(SERVER),
            f"--defaults-file={file}",
            "--bootstrap",
            "--user=root",
            f"--datadir={data}",
            f"--lc-messages-dir={PLUGINS.parents[2] / 'share/mysql'}",
            f"--plugin-dir={PLUGINS}",
            "--plugin-load-add=ha_rocksdb",
            "--plugin-maturity=unknown",
        ],
        input="",
        capture_output=True,
        text=True,
    )
    assert "MyRocks storage engine plugin has been successfully initialized" in done.stderr, done.stderr
    options: OptionMaps = TUNED | {"db": dict(TUNED["db"])}
    # MariaDB knows jobs alone.
    del options["db"]["max_background_compactions"], options["db"]["max_background_flushes"]
    options["db"]["max_background_jobs"] = "5"
    # RocksDB 6.29, which MariaDB has, does not write a filter's bits.
    options = changed_filter(options, "rocksdb.BuiltinBloomFilter")
    assert read_back(written_options(data / "#rocksdb"), options) == expected(options)


def changed_filter(options: OptionMaps, policy: str) -> OptionMaps:
    return options | {"table": options["table"] | {"filter_policy": policy}}
