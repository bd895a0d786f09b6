from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.rocktune.watched_journal import (
    Seen,
    Study,
    claims_of,
    has_ended,
    latencies,
    seen_in,
    study_of,
    windows_until_rollback,
)
from tests.deploy.watch.made import intervals

from rocktune.deploy.watch import Row

TUNED = ["changed", "new workload", "tuning", "proposed", "applying", "applied", "observed", "confirmed"]
BAD = ["changed", "new workload", "tuning", "proposed", "applying", "applied", "rolling back", "rolled back"]
STUDY = Study("w", None, 2)


def rows(events: Iterable[str], count: int = 0) -> list[Row]:
    """Returns the rows of some steps, and behind them one with a number of intervals."""
    made = [Row(at="", event=event, text="Study 'w-1' searches.") for event in events]
    return [*made, Row(at="", event="read", intervals=tuple(intervals(np.random.default_rng(1), count)))]


SEEN = Seen(
    parts={
        "still": rows(["observing", "suspecting"], 6),
        "turned": rows(TUNED),
        "back": rows(["changed", "recognised", "applying", "applied", "observed", "confirmed"]),
        "third": rows(TUNED),
    },
    bad=rows(BAD),
    failed=0,
    studies={"turned": STUDY, "third": STUDY},
)


def missed(seen: Seen) -> list[str]:
    return [claim.name for claim in claims_of(seen, "RocksDB 7.8.3", "4 MiB/s") if claim.holds is False]


def test_all_hold() -> None:
    assert missed(SEEN) == []
    found = {claim.name: claim.measured.value for claim in claims_of(SEEN, "RocksDB 7.8.3", "4 MiB/s")}
    assert found["time_without_a_change"] == 3600


@pytest.mark.parametrize(
    ("part", "events", "claims"),
    [
        ("still", ["observing", "changed"], ["actions_without_a_change"]),
        ("turned", [], ["shift_noticed", "better_options_proven", "options_applied_and_confirmed"]),
        ("turned", [*TUNED[:3], "kept"], ["better_options_proven", "options_applied_and_confirmed"]),
        ("turned", BAD, ["options_applied_and_confirmed"]),
        ("back", ["changed", "new workload", "tuning"], ["shift_back_recognised_without_a_study"]),
    ],
)
def test_each_part_can_miss_its_targets(part: str, events: list[str], claims: list[str]) -> None:
    assert missed(replace(SEEN, parts={**SEEN.parts, part: rows(events)})) == claims


def test_a_cold_study_a_late_rollback_and_a_failed_operation_count() -> None:
    assert missed(replace(SEEN, studies={"third": replace(STUDY, seeded=0)})) == ["taken_over_third"]
    assert missed(replace(SEEN, bad=rows(TUNED))) == ["rollback_of_bad_options"]
    assert missed(replace(SEEN, failed=1)) == ["failed_operations"]


@pytest.mark.parametrize(
    ("events", "count", "ended"),
    [
        (TUNED[:-1], 9, False),
        (TUNED, 0, True),
        (["changed", "recognised"], 24, False),
        (["changed", "recognised"], 25, True),
        (["changed", "recognised", "applying", "applied"], 9, False),
        (["changed", "recognised", "tuning"], 9, False),
        ([], 9, False),
    ],
)
def test_the_end_of_the_steps_behind_a_shift(events: list[str], count: int, ended: bool) -> None:
    assert has_ended(rows(events, count)) is ended


def test_windows_are_counted_until_the_rollback_begins() -> None:
    assert windows_until_rollback(rows(BAD)) == 1
    assert windows_until_rollback(rows([*TUNED[:-1], "rolling back"])) == 2
    assert windows_until_rollback(rows(TUNED)) == 3


def test_a_study_is_named_where_it_begins() -> None:
    assert study_of(rows(TUNED)) == "w-1"
    assert study_of(rows(["recognised"])) == ""


def test_latencies_are_those_around_the_application() -> None:
    rng = np.random.default_rng(1)

    def read(count: int, latency_us: float) -> Row:
        return Row(at="", event="read", intervals=tuple(intervals(rng, count, latency_us=latency_us)))

    before, after = latencies(
        [read(20, 50), Row(at="", event="applied"), read(2, 50), read(6, 10), Row(at="", event="confirmed")]
    )
    assert (len(before), len(after)) == (8, 6)
    assert min(before) > 40
    assert max(after) < 15


def test_the_third_load_may_be_left_out() -> None:
    parts = {name: part for name, part in SEEN.parts.items() if name != "third"}
    claims = claims_of(replace(SEEN, parts=parts, studies={"turned": STUDY}), "RocksDB 7.8.3", "4 MiB/s")
    assert [claim.name for claim in claims if "third" in claim.name or claim.holds is False] == []


def test_a_row_shows_the_latency_and_the_moved_bytes_of_its_intervals() -> None:
    made = tuple(intervals(np.random.default_rng(1), 3, latency_us=50.0))
    found = seen_in(Row(at="", event="read", intervals=made))
    lookups = sum(each.waited_s["get"][0] for each in made)
    total_s = sum(each.waited_s["get"][1] for each in made)
    assert found["lookup_us"] == pytest.approx(1e6 * total_s / lookups, abs=0.1)
    assert found["intervals"] == 3
    assert found["moved_mb"] == pytest.approx(sum(each.moved_bytes for each in made) / 1e6, abs=0.1)
