"""The debt of compactions by age."""

from typing import Any

import numpy as np
import pytest
from tests.engine.test_debt import BOUND, CF, OPTIONS, READS, WRITES, window

from rocktune.engine.age_debt import Ages
from rocktune.engine.debt import CompactionDebt
from rocktune.lsm import Amplification, DistinctKeys, TreeData
from rocktune.workload import WorkloadSpec

DAYS_S = 86_400
RELEASE = "18446744073709551614"
LEVEL_BYTES = [0, 100_000, 0, 900_000]


def owed(workload: WorkloadSpec, cf: dict[str, str], **changes: Any) -> float:
    debt = CompactionDebt(workload, BOUND, OPTIONS | {"cf": CF | cf})
    return float(debt.charged(window(level_bytes=LEVEL_BYTES, **changes))["debt"]["owed_bytes"])


def test_periodic_compaction_by_hand() -> None:
    ages = Ages.of("leveled", {"periodic_compaction_seconds": "900", "ttl": "0"})
    assert ages == Ages("leveled", 900, 0)
    # 900,000 bytes of the last level, read and written once in 900 s.
    assert ages.owed_bytes_per_s([0.0, 100_000.0, 0.0, 900_000.0], 0.0, None, None) == pytest.approx(2000)
    universal = Ages.of("universal", {"periodic_compaction_seconds": "1000"})
    assert universal.owed_bytes_per_s([0.0, 100_000.0, 900_000.0], 0.0, None, None) == pytest.approx(2000)


def test_an_idle_store_owes_its_ages() -> None:
    idle = {"user_bytes_written": 0}
    assert owed(READS, {}, **idle) == 0
    # 10 s of 2,000 B/s.
    assert owed(READS, {"periodic_compaction_seconds": "900"}, **idle) == pytest.approx(20_000)
    # Level 1 goes down each 900 s, and rewrites the level below.
    assert owed(READS, {"ttl": "900"}, **idle) == pytest.approx(20_000)
    styles = {"compaction_style": "kCompactionStyleUniversal", "periodic_compaction_seconds": "1000"}
    assert owed(READS, styles, **idle) == pytest.approx(20_000)


@pytest.mark.parametrize("style", ["kCompactionStyleLevel", "kCompactionStyleUniversal"])
def test_what_is_overwritten_anyway_owes_no_more(style: str) -> None:
    # 2,000,000 bytes in 10 s. By the model, the last level gets 0.28 of each byte under leveled compaction
    # and 0.42 under universal: 61 MB are rewritten in 1,100 s and in 740 s.
    cf = {"compaction_style": style, "level_compaction_dynamic_level_bytes": "true"}
    plain, day, short = (
        owed(WRITES, cf | {"periodic_compaction_seconds": age}, user_bytes_written=2_000_000)
        for age in ("0", str(DAYS_S), "10")
    )
    assert day == pytest.approx(plain)
    assert short == pytest.approx(plain + 2 * (900_000 if "Level" in style else 1_000_000), rel=0.02)


def test_universal_takes_the_smaller_age() -> None:
    assert Ages.of("universal", {"ttl": "50", "periodic_compaction_seconds": "900"}).periodic_s == 50
    assert Ages.of("universal", {"ttl": "0", "periodic_compaction_seconds": "900"}).periodic_s == 900
    assert Ages.of("universal", {"ttl": RELEASE}) == Ages("universal", 30 * DAYS_S, 0)


def test_ages_that_are_left_to_the_release() -> None:
    both = {"ttl": RELEASE, "periodic_compaction_seconds": RELEASE}
    assert Ages.of("leveled", both) == Ages("leveled", 0, 30 * DAYS_S)


def test_measured_debt_has_the_ages_already() -> None:
    cf = CF | {"periodic_compaction_seconds": "10"}
    debt = CompactionDebt(WRITES, BOUND, OPTIONS | {"cf": cf}, measured=4.0)
    assert debt.charged(window(level_bytes=LEVEL_BYTES))["debt"]["owed_bytes"] == 8000


def test_families_owe_their_own_ages() -> None:
    workload = WorkloadSpec.model_validate(
        {
            "name": "two",
            "keys": 2000,
            "families": [{"name": "old", "keys": 1000}, {"name": "new", "keys": 1000}],
            "sessions": [{"mix": {"get": 1.0}}],
        }
    )
    options = OPTIONS | {"cf:old": CF | {"periodic_compaction_seconds": "900"}, "cf:new": CF}
    part = {"user_bytes_written": 0, "level_bytes": LEVEL_BYTES}
    raw = window(user_bytes_written=0, families={"old": part, "new": part})
    debt = CompactionDebt(workload, BOUND, options).charged(raw)["debt"]
    assert debt["owed_bytes"] == pytest.approx(20_000)


def test_turnover_is_that_of_the_model() -> None:
    # 1,000 bytes a second, of which 2 are rewritten in the last level for each: 2,000 of 100,000 B/s, so
    # that each byte is rewritten each 50 s. Of 900,000 bytes 1 / (e^2 - 1) / 50 s reach 100 s.
    data = TreeData(DistinctKeys(np.array([100.0]), np.array([1.0])), 1000.0, 1000.0)
    assert data.stored_bytes == 100_000
    found = Ages("leveled", 100, 0).owed_bytes_per_s(
        [0.0, 900_000.0], 1000.0, Amplification(1.0, 5.0, 4.0, last_level=2.0), data
    )
    assert found == pytest.approx(2 * 900_000 / 50 / 6.389056, rel=1e-6)
