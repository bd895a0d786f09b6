from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, Work, findings, level0

STALLS = [level0(20), level0(21)]


def rules(directory: Path, work: Work, flush_mb_s: float = 100.0, **options: object) -> list[str]:
    family = Family(options, compactions=work, flushes=Work(mb_s=flush_mb_s))
    return [each.rule for each in findings(directory, family, STALLS, stall_s=30) if each.is_root]


@pytest.mark.parametrize(
    ("cpu_s", "found"), [(14, ["device-bound"]), (20, []), (31, ["cpu-bound"]), (90, ["cpu-bound"])]
)
def test_cpu_time_tells_the_device_from_the_processors(
    tmp_path: Path, cpu_s: float, found: list[str]
) -> None:
    assert rules(tmp_path, Work(seconds=100, cpu_s=cpu_s)) == found


@pytest.mark.parametrize(
    ("cpu_s", "found"), [(4, ["device-bound"]), (6, ["few-threads"]), (90, ["few-threads"])]
)
def test_one_thread_is_named_unless_it_hardly_computes(
    tmp_path: Path, cpu_s: float, found: list[str]
) -> None:
    assert rules(tmp_path, Work(seconds=100, cpu_s=cpu_s), max_background_jobs=2) == found


def test_one_thread_with_time_to_spare_is_not_named(tmp_path: Path) -> None:
    assert rules(tmp_path, Work(seconds=60, cpu_s=50), max_background_jobs=2) == []


def test_strong_compression_is_named_if_flushes_are_much_faster(tmp_path: Path) -> None:
    slow = Work(seconds=100, mb_s=20, cpu_s=10)
    assert rules(tmp_path, slow, compression="ZSTD", flush_mb_s=81) == ["cpu-bound"]
    assert rules(tmp_path, slow, compression="ZSTD", flush_mb_s=79) == ["device-bound"]
    assert rules(tmp_path, slow, flush_mb_s=81) == ["device-bound"]


def test_idle_compactions_are_not_named(tmp_path: Path) -> None:
    assert rules(tmp_path, Work(seconds=39, cpu_s=1)) == []


def test_a_cause_replaces_the_limit_that_was_reached(tmp_path: Path) -> None:
    (finding,) = findings(tmp_path, Family(compactions=Work(seconds=100, cpu_s=5)), STALLS, stall_s=30)
    assert finding.rule == "device-bound"
    assert finding.held_share == pytest.approx(0.3)
    assert any("level-0 files" in each.quote for each in finding.evidence)
