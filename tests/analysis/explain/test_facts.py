from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, log_text
from tests.importing.logs.made import message, only

from rocktune.analysis.explain.facts import Facts
from rocktune.importing import parsed_document

OPTIONS = b"""[DBOptions]
  max_background_jobs=3
  stats_dump_period_sec=60
[CFOptions "default"]
  compression_per_level=kNoCompression:kZSTD
[TableOptions/BlockBasedTable "default"]
  block_restart_interval=8
"""


def facts(directory: Path, family: Family, more: str = "", options: bytes | None = None) -> Facts:
    path = directory / "LOG"
    path.write_text(log_text({"default": family}) + more)
    return Facts(only(path), None if options is None else parsed_document(options, "OPTIONS"))


@pytest.mark.parametrize(
    ("options", "threads"),
    [
        ({"max_background_jobs": 2}, (1, 1)),
        ({"max_background_jobs": 8}, (2, 6)),
        ({"max_background_flushes": 1}, (1, 1)),
        ({"max_background_flushes": 3, "max_background_compactions": 5}, (3, 5)),
    ],
)
def test_threads_are_divided_as_rocksdb_does(
    tmp_path: Path, options: dict[str, int], threads: object
) -> None:
    found = facts(tmp_path, Family(options))
    assert (found.flush_threads, found.compaction_threads) == threads


def test_the_programs_changes_come_first_and_the_options_file_last(tmp_path: Path) -> None:
    change = message(101, "SetOptions() on column family [default], inputs:")
    change += message(101, "level0_stop_writes_trigger: 50") + message(
        101, "[default] SetOptions() succeeded"
    )
    found = facts(tmp_path, Family(), change, OPTIONS)
    assert found.text("level0_stop_writes_trigger", "default") == "50"
    assert found.text("max_background_jobs") == "8"
    assert found.text("stats_dump_period_sec") == "60"
    assert found.text("table.block_restart_interval", "default") == "8"
    assert found.text("ttl", "default") is None
    assert found.compressions("default") == ("kNoCompression", "kZSTD")


PERCENT = "compaction_options_universal.max_size_amplification_percent"


def test_settings_in_braces(tmp_path: Path) -> None:
    options = OPTIONS.replace(
        b"[TableOptions",
        b"  compaction_options_universal={max_size_amplification_percent=500;}\n[TableOptions",
    )
    assert facts(tmp_path, Family(), "", options).text(PERCENT, "default") == "500"
    change = (
        message(101, "SetOptions() on column family [default], inputs:")
        + message(101, "compaction_options_universal: {max_size_amplification_percent=300;size_ratio=2;}")
        + message(101, "block_based_table_factory: {block_restart_interval=4}")
        + message(101, "prefix_extractor: {broken")
        + message(101, "[default] SetOptions() succeeded")
    )
    found = facts(tmp_path, Family({PERCENT: 200}), change, options)
    assert found.number(PERCENT, "default") == 300
    assert found.text("table.block_restart_interval", "default") == "4"
    assert found.text("prefix_extractor.x", "default") is None


def test_compressions_of_levels(tmp_path: Path) -> None:
    family = Family({"compression[0]": "NoCompression", "compression[1]": "Zlib"})
    assert facts(tmp_path, family).compressions("default") == ("NoCompression", "Zlib")
    assert facts(tmp_path, Family()).compressions("default") == ("LZ4",)
