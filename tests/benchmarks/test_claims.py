import json
import sys
from pathlib import Path

import pytest
from benchmarks.common.claims import (
    PAPER,
    ROOT,
    TARGET,
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
    spread_interval,
    verdict,
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
        decided(
            reported("held", "here", "1", exactly(settings.extra["answer"]), engine="none", device="none"),
            low=42,
        ),
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
    assert (held["kind"], held["target"], held["holds"], held["scale"]) == (TARGET, ">= 42", True, "1/16")
    assert (found["kind"], found["target"], found["holds"], found["paper"]) == (PAPER, "", None, 4.0)
    assert {claim["experiment"] for claim in (held, found)} == {"out"}
    assert json.loads((tmp_path / "new" / "out" / "claims.json").read_text()) == [held, found]


def test_a_claim_that_does_not_hold_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started(monkeypatch, "--answer", "41", "--scale", "1/8")
    said = "held: 41 1 [41, 41], n = 1; target >= 42: DOES NOT HOLD. the interval is 41 to 41"
    assert said in capsys.readouterr().out


def test_a_command_has_what_is_measured_and_no_absolute_paths(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    table = f"{ROOT}/data/table.csv,{tmp_path}/other.csv"
    flags = ("--answer", "41", f"--name={tmp_path}/name", "--tables", table)
    monkeypatch.setattr(
        sys, "argv", ["benchmark", "--json", "--out", str(tmp_path), f"--out={tmp_path}", *flags]
    )
    main("dremel.throughput", claims_of, extra={"answer": 42, "tables": "", "name": ""})
    (command,) = {claim["command"] for claim in json.loads(capsys.readouterr().out)}
    assert command == (
        "python -m benchmarks.dremel.throughput --answer 41 --name=name --tables data/table.csv,other.csv"
    )


def test_smoke_runs_decide_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    started(monkeypatch, "--quick", "--json")
    claims = json.loads(capsys.readouterr().out)
    assert [(claim["holds"], claim["scale"]) for claim in claims] == [(UNDECIDABLE, "1/512"), (None, "1/512")]


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


def test_description_has_the_papers_figure_beside_ours() -> None:
    claim = reported("found", "here", "s", exactly(3.0), 4, engine="none", device="none")
    assert describe(claim) == "found: 3 s [3, 3], n = 1; paper 4"


def test_interval_of_a_coefficient_of_variation() -> None:
    # Deviation 1, mean 2; chi-squared with 2 degrees of freedom: 7.378 and 0.0506.
    measured = spread_interval([1.0, 2.0, 3.0])
    assert measured.value == pytest.approx(0.5)
    assert measured.low == pytest.approx(0.5 * (2 / 7.378) ** 0.5, rel=1e-3)
    assert measured.high == pytest.approx(0.5 * (2 / 0.0506) ** 0.5, rel=1e-3)


@pytest.mark.parametrize("target", ["", "1", "< 1", ">= 1 (lower bound)", "interval reaches 0"])
def test_a_target_in_words_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="use bounds such as"):
        verdict(target, mean_interval([1.0, 1.1]))


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
