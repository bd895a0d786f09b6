from pathlib import Path

import pytest
from tests.analysis.explain.made import MIB, Family, findings, pending


@pytest.mark.parametrize(("soft_mb", "is_root"), [(2047, True), (2048, False)])
def test_limits_are_the_cause_below_8_sizes_of_level_1(tmp_path: Path, soft_mb: int, is_root: bool) -> None:
    family = Family({"soft_pending_compaction_bytes_limit": soft_mb * MIB})
    (finding,) = findings(tmp_path, family, [pending(soft_mb * MIB + 1)], stall_s=20)
    assert (finding.rule, finding.is_root) == ("pending-limits", is_root)
    first = finding.suggestions[0]
    assert first.option == ("soft_pending_compaction_bytes_limit" if is_root else "max_background_jobs")
    assert finding.evidence[-2 if finding.evidence[-1].quote == "Comp(sec)" else -1].quote.endswith(
        f"estimated pending compaction bytes {soft_mb * MIB + 1}"
    )
