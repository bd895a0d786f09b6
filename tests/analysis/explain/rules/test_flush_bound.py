from pathlib import Path

from tests.analysis.explain.made import Family, Work, findings, memtables

BUSY = Work(seconds=160, mb_s=6)


def test_a_strong_compression_of_level_0_is_named(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, Family({"compression": "ZSTD"}, flushes=BUSY), [memtables(4)], stall_s=40)
    assert finding.title == "flushes at 6.0 MiB/s are the brake"
    tried = {each.option: (each.present, each.value) for each in finding.suggestions}
    assert tried == {"max_background_jobs": ("8", "16"), "compression": ("ZSTD", "kLZ4Compression")}


def test_threads_for_flushes_that_are_set_are_raised(tmp_path: Path) -> None:
    family = Family({"max_background_flushes": 1, "max_background_compactions": 3}, flushes=BUSY)
    (finding,) = findings(tmp_path, family, [memtables(4)], stall_s=40)
    assert [(each.option, each.value) for each in finding.suggestions] == [("max_background_flushes", "2")]


def test_busy_flushes_without_stalls_are_no_finding(tmp_path: Path) -> None:
    assert findings(tmp_path, Family(flushes=BUSY)) == ()
