"""What each of the files in cases/ must give."""

from datetime import datetime
from pathlib import Path

from tests.importing.logs.made import only

from rocktune.importing.logs import StallCause, StallSummary

CASES = Path(__file__).parent / "cases"


def test_stalls_of_three_families() -> None:
    opening = only(CASES / "stalls-of-three-families.log")
    assert opening.version == ""
    assert opening.families == ("blocks", "by_owner", "signatures")
    found = {(stall.family, stall.stops, stall.cause): stall for stall in opening.stalls}
    assert len(found) == len(opening.stalls) == 5

    def stall(family: str, stops: bool, cause: StallCause) -> StallSummary:
        return found[family, stops, cause]

    pending = stall("blocks", False, StallCause.PENDING)
    assert (pending.messages, pending.max_amount) == (4, 77712345678)
    assert (pending.max_rate_bytes_s, pending.min_rate_bytes_s) == (16 << 20, 4398044)
    assert (pending.first, pending.last) == (
        datetime(2026, 3, 4, 10, 12),
        datetime(2026, 3, 4, 10, 18, 27, 213813),
    )
    stopped = stall("by_owner", True, StallCause.LEVEL0)
    assert (stopped.max_amount, stopped.min_rate_bytes_s) == (36, None)
    assert stopped.first == datetime(2026, 3, 4, 10, 48, 27, 213813)
    # It lasts until no later than the end of the LOG, which has no further line of the family.
    assert stopped.max_s == 401.857458
    slowest = stall("blocks", False, StallCause.LEVEL0)
    assert (slowest.messages, slowest.min_rate_bytes_s) == (3, 16 << 10)
    assert stall("by_owner", False, StallCause.LEVEL0).messages == 3
    recovering = stall("signatures", False, StallCause.LEVEL0)
    assert (recovering.min_rate_bytes_s, recovering.max_rate_bytes_s) == (3568018, 5575027)
    assert sum(each.messages for each in opening.stalls) == 14


def test_slow_flushes() -> None:
    opening = only(CASES / "slow-flushes-17-columns.log")
    assert opening.version == "5.18.4"
    assert opening.option("max_background_jobs") == "2"
    # An excerpt does not say which family an option belongs to.
    assert opening.option("level0_slowdown_writes_trigger", "default") == "20"
    ((dump,), (family,)) = opening.dumps, opening.dumps[0].families
    assert dump.db is None
    level0, level1, level6 = family.levels
    assert all((level.score or 0) < 1 for level in family.levels)
    assert (level0.write_mb_s, level0.compaction_s, level0.compactions) == (6.0, 820.0, 351.0)
    assert level0.size_bytes == 36.10 * (1 << 20)
    assert (level1.keys_in, level1.keys_dropped) == (290_000_000, 120_000_000)
    assert (level6.level, level6.files, level6.compacting_files) == ("L6", 20, 0)
    assert not opening.stalls
