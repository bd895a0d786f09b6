from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, Work, log_text
from tests.importing.logs.made import HERE, only

from rocktune.analysis.explain.busy import busy


def test_jobs_are_told_apart_by_the_priority_of_their_threads(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    family = Family(flushes=Work(20, 300, 5), compactions=Work(150, 40, 60))
    path.write_text(log_text({"default": family, "other": family}))
    found = busy(only(path))
    assert found.flushes == pytest.approx(0.4)
    assert found.compactions == pytest.approx(3.0)
    assert (found.flush_s, found.flush_mb_s) == (40, 300)
    assert (found.compaction_s, found.compaction_mb_s) == (300, 40)
    assert found.compaction_cpu_share == pytest.approx(0.4)


def test_only_dumps_with_stalls_count_if_there_are_any(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    calm = log_text({"default": Family(compactions=Work(10))})
    stalled = log_text({"default": Family(compactions=Work(90))}, stall_s=50)
    second = stalled[stalled.index("2026/03/04-10:01:40") :].replace(
        "Uptime(secs): 100.0", "Uptime(secs): 200.0"
    )
    path.write_text(calm + second)
    assert busy(only(path)).compactions == pytest.approx(0.8)


def test_tables_without_priorities_are_told_apart_by_level() -> None:
    found = busy(only(HERE / "cases" / "slow-flushes-17-columns.log"))
    assert (found.flush_s, found.flush_mb_s, found.compaction_s) == (820, 6, 129)
    assert (found.flushes, found.compactions, found.compaction_cpu_share) == (None, None, None)
