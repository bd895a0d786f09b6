import json
import sys
from pathlib import Path

import pytest
from benchmarks.claims import (
    UNDECIDABLE,
    Claim,
    Measured,
    Settings,
    decided,
    describe,
    exactly,
    main,
    mean_interval,
    ratio_interval,
    reported,
)

from rocktune.errors import UserError


def test_interval_of_a_mean() -> None:
    # Mean 2, deviation 1, t quantile for 2 degrees of freedom 4.303: 4.303 / sqrt(3) = 2.484.
    measured = mean_interval([1.0, 2.0, 3.0])
    assert (measured.value, measured.repeats) == (2.0, 3)
    assert measured.low == pytest.approx(2 - 2.484, abs=1e-3)
    assert measured.high == pytest.approx(2 + 2.484, abs=1e-3)


def test_interval_of_ratios_is_one_of_logarithms() -> None:
    # Logarithms 0 and ln 4: mean ln 2, deviation 0.980, t quantile 12.706: half width 8.81.
    measured = ratio_interval([1.0, 4.0])
    assert measured.value == pytest.approx(2.0)
    assert measured.high / measured.value == pytest.approx(measured.value / measured.low)
    assert measured.high == pytest.approx(2 * 6667, rel=0.01)
    assert ratio_interval([1.5]).low == pytest.approx(1.5)


def claims_of(settings: Settings) -> list[Claim]:
    settings.say("measuring")
    return [
        Claim("held", "here", "1", ">= 1", exactly(2.0), settings.extra["answer"] == 42, device="none"),
        reported("found", "here", "1", exactly(3.0), 4.0, engine="none", device="none"),
    ]


def started(monkeypatch: pytest.MonkeyPatch, *flags: str) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmark", *flags])
    main("benchmark", claims_of, scale=16, extra={"answer": 42})


def test_claims_are_printed_and_written_with_their_conditions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    started(monkeypatch, "--json", "--out", str(tmp_path / "new" / "out"))
    printed = capsys.readouterr()
    held, found = json.loads(printed.out)
    assert printed.err == "measuring\n"
    assert (held["holds"], held["scale"], found["holds"], found["paper"]) == (True, "1/16", "reported", 4.0)
    assert held["command"].startswith("python -m benchmarks.benchmark --json")
    assert json.loads((tmp_path / "new" / "out" / "claims.json").read_text()) == [held, found]


def test_a_claim_that_does_not_hold_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started(monkeypatch, "--answer", "41", "--scale", "1/8")
    assert "held: 2 1 [2, 2], n = 1; target >= 1: DOES NOT HOLD" in capsys.readouterr().out


def test_smoke_runs_decide_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started(monkeypatch, "--quick", "--json")
    claims = json.loads(capsys.readouterr().out)
    assert {(claim["holds"], claim["scale"]) for claim in claims} == {(UNDECIDABLE, "1/512")}


def test_what_a_user_can_mend_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(_settings: Settings) -> list[Claim]:
        raise UserError("no disk: insert one")

    monkeypatch.setattr(sys, "argv", ["benchmark"])
    with pytest.raises(SystemExit) as ended:
        main("benchmark", fails)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "no disk: insert one\n"


def test_description_keeps_a_verdict_in_words() -> None:
    claim = reported("found", "here", "s", exactly(3.0), engine="none", device="none")
    assert describe(claim) == "found: 3 s [3, 3], n = 1; target whatever it gives: reported. "


@pytest.mark.parametrize(
    ("measured", "holds"),
    [
        (mean_interval([1.0, 1.1, 0.9]), True),
        (mean_interval([1.0, 3.0]), False),
        (mean_interval([1.0]), UNDECIDABLE),
        (exactly(1.0), True),
        (exactly(2.5), False),
    ],
)
def test_one_measurement_decides_only_where_it_is_exact(measured: Measured, holds: bool | str) -> None:
    claim = reported("claim", "source", "s", measured, engine="", device="")
    assert decided(claim, low=0.0, high=2.0).holds == holds
