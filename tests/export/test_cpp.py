"""The C++ header, and beside it the OPTIONS file: both are opened by the linked RocksDB here."""

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.export.samples import (
    changed,
    comments,
    expected,
    exported,
    options_of_all_types,
    read_back,
    sections,
    written_options,
)

SOURCE = Path(__file__).parent / "cpp" / "open_store.cc"
HEADERS = Path(__file__).parents[2] / "cpp"
STRICT = ("g++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror")
needs_rocksdb = pytest.mark.skipif(
    shutil.which("g++") is None or not Path("/usr/include/rocksdb/db.h").exists(),
    reason="g++ or RocksDB's headers are not installed (g++ librocksdb-dev)",
)
PARSED = changed(
    "cf",
    compaction_options_universal="{size_ratio=7;min_merge_width=3;}",
    memtable_whole_key_filtering="true",
)
"""The first of the two has no field of a plain type."""


def test_statements() -> None:
    text = exported("cpp")
    for line in (
        "  options->max_background_compactions = 3;",
        "  options->allow_mmap_reads = false;",
        "  options->write_buffer_size = 50331648;",
        "  options->max_bytes_for_level_multiplier = 8;",
        "  options->compression = rocksdb::kLZ4Compression;",
        "  options->compaction_pri = rocksdb::kMinOverlappingRatio;",
        "  table.block_size = 8192;",
        "  table.block_cache = rocksdb::NewLRUCache(646000000);",
        "  table.filter_policy = std::shared_ptr<const rocksdb::FilterPolicy>("
        "rocksdb::NewBloomFilterPolicy(10));",
    ):
        assert line in text.splitlines()
    assert "Left out" not in comments(text)
    assert "FromMap" not in text


def test_option_without_a_plain_field_is_parsed_by_rocksdb_and_quoted() -> None:
    text = exported("cpp", changed("cf", merge_operator='x"); evil("'))
    assert "rocksdb::GetColumnFamilyOptionsFromMap(" in text
    assert r'{"merge_operator", "x\"); evil(\""}' in text


def test_largest_numbers_have_the_suffix_that_they_need() -> None:
    assert "options->ttl = 18446744073709551614ull;" in exported("cpp", changed("cf", ttl=str((1 << 64) - 2)))


@needs_rocksdb
def test_both_open_a_store_with_exactly_these_options(tmp_path: Path) -> None:
    file, program = tmp_path / "OPTIONS", tmp_path / "open_store"
    file.write_text(exported("options-file", PARSED))
    (tmp_path / "tuned.h").write_text(exported("cpp", PARSED))
    subprocess.run(
        [
            *STRICT,
            "-std=c++20",
            f"-I{HEADERS}",
            f"-I{tmp_path}",
            str(SOURCE),
            "-o",
            str(program),
            "-lrocksdb",
        ],
        check=True,
        text=True,
    )
    stores = [tmp_path / "from_file", tmp_path / "from_function"]
    done = subprocess.run([program, file, *stores], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "646000000\n646000000\n"), done.stderr
    plain = PARSED | {"cf": {k: v for k, v in PARSED["cf"].items() if k != "compaction_options_universal"}}
    for store in stores:
        written = written_options(store)
        assert read_back(written, plain) == expected(plain)
        universal = sections(written)['[CFOptions "default"]']["compaction_options_universal"]
        assert "min_merge_width=3;" in universal
        assert "size_ratio=7;" in universal


@needs_rocksdb
def test_every_plain_field_exists(tmp_path: Path) -> None:
    header = tmp_path / "tuned.h"
    header.write_text(exported("cpp", options_of_all_types()))
    done = subprocess.run(
        [*STRICT, "-fsyntax-only", "-include", header, "-x", "c++", "/dev/null"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert "FromMap" not in header.read_text()
