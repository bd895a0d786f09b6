"""Tests for the claims about changed options."""

from typing import Any

import pytest
from benchmarks.rocktune.options_watcher import FILES, claims_of


def found(**changed: dict[str, Any]) -> dict[str, Any]:
    document = {
        "rocksdb_version": "11.8.1",
        "valid": {"applied": 50, "seconds": [0.1, 0.5, 1.9], "in_write_stops": 47},
        "bad": {"refused": 1000, "changed": 0},
        "alternating": {"applied": 200, "heap_bytes": 204_800, "descriptors": 0},
        "operations": 9,
        "failed": 0,
    }
    return {
        name: part | changed.get(name, {}) if isinstance(part, dict) else part
        for name, part in document.items()
    }


def missed(document: dict[str, Any]) -> list[str]:
    return [claim.name for claim in claims_of(document, FILES) if claim.holds is False]


def test_all_hold_at_their_bounds() -> None:
    assert missed(found()) == []


@pytest.mark.parametrize(
    ("part", "worse", "claim"),
    [
        ("valid", {"seconds": [0.1, 2.1]}, "valid_file_in_force"),
        ("valid", {"applied": 49}, "valid_files_applied"),
        ("bad", {"refused": 999}, "bad_files_refused"),
        ("bad", {"changed": 1}, "bad_files_that_changed_options"),
        ("alternating", {"applied": 199}, "alternating_files_applied"),
        ("alternating", {"heap_bytes": 205_000}, "heap_growth"),
        ("alternating", {"descriptors": 1}, "descriptor_growth"),
    ],
)
def test_each_figure_can_miss_its_target(part: str, worse: dict[str, Any], claim: str) -> None:
    assert missed(found(**{part: worse})) == [claim]


def test_one_failed_operation_counts() -> None:
    assert missed(found() | {"failed": 1}) == ["failed_operations"]


def test_files_that_all_met_a_write_stop_are_not_timed() -> None:
    claims = claims_of(found(valid={"seconds": [], "in_write_stops": 50}), FILES)
    assert [claim for claim in claims if claim.name == "valid_file_in_force"] == []
    assert [claim.measured.value for claim in claims if claim.name == "files_in_write_stops"] == [50]
