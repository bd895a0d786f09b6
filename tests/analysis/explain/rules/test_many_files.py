from pathlib import Path

import pytest
from tests.analysis.explain.made import Family, findings


@pytest.mark.parametrize(
    ("files", "size_mb", "open_files", "found"),
    [
        (400, 799, -1, ["many-files"]),
        (400, 801, -1, []),
        (399, 100, -1, []),
        (100, 6400, 100, ["many-files"]),
        (90, 6400, 100, []),
    ],
)
def test_small_files_and_more_than_may_be_open(
    tmp_path: Path, files: int, size_mb: int, open_files: int, found: list[str]
) -> None:
    family = Family({"max_open_files": open_files}, levels={"L6": (files, size_mb)})
    assert [each.rule for each in findings(tmp_path, family)] == found
