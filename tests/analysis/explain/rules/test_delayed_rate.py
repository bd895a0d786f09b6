from pathlib import Path

import pytest
from tests.analysis.explain.made import MIB, Family, findings, level0


@pytest.mark.parametrize(("rate", "found"), [(MIB, True), (MIB + 1, False)])
def test_a_low_first_rate_is_the_cause(tmp_path: Path, rate: int, found: bool) -> None:
    family = Family({"delayed_write_rate": rate})
    first = findings(tmp_path, family, [level0(20, rate=rate)] * 2, stall_s=30)[0]
    assert (first.rule == "slow-delayed-rate") is found
    if found:
        assert first.title == "delayed writes get 1MiB/s at most"
        assert first.suggestions[0].value == str(16 * MIB)


def test_a_rate_that_fell_32_times_is_an_effect_and_comes_last(tmp_path: Path) -> None:
    def last(lowest: int) -> str:
        stalls = [level0(20), level0(20, rate=lowest)]
        return findings(tmp_path, Family(), stalls, stall_s=30)[-1].rule

    assert last(MIB // 2) == "slow-delayed-rate"
    assert last(MIB) == "level0-triggers"
