"""The report of studies that really ran, on an engine without stores."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report.test_page import Page

from rocktune.export import export_study, export_targets
from rocktune.ledger import Ledger, open_ledger
from rocktune.report import render_report, write_report
from rocktune.report.arms import arm_results
from rocktune.study import StudySpec, make_request, recorded_outcome, resolve, run_study, verify_study
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration, Status


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_ledger(str(tmp_path / "ledger")) as opened:
        yield opened


def spec(**given: Any) -> StudySpec:
    settings = {
        "workload": "dremel-write-heavy",
        "device": "ssd-100mb",
        "scale": "1/64",
        "seed": 3,
        "protocol": "short",
    } | given
    return resolve(make_request(settings), "study")


class Engine(SyntheticEngine):
    """Reports itself as a RocksDB, as an exported file needs."""

    version = "RocksDB 7.8.3, assertions on"


def rising(configuration: Configuration) -> float:
    """Larger write buffers are faster."""
    return 30_000.0 + float(configuration.get("write_buffer_size", 0)) / 2_000


def page_of(ledger: Ledger, tmp_path: Path) -> Page:
    study = ledger.study("study")
    outcome = recorded_outcome(ledger, study)
    assert outcome is not None
    write_report(tmp_path / "report.html", study, outcome, ledger.trials(study))
    return Page((tmp_path / "report.html").read_text(encoding="utf-8"))


def test_report_of_a_study_with_dremel_shows_everything(ledger: Ledger, tmp_path: Path) -> None:
    run_study(spec(), Engine(rising, own_noise=0.002), ledger)
    page = page_of(ledger, tmp_path)
    assert {"The search", "Dremel's arms", "Throughput over a run", "Latency", "Trials"} <= set(page.headings)
    assert "more throughput than the tuning guide's configuration in short runs, on a 1/64 model" in page.text
    assert "write_buffer_size" in page.text
    study = ledger.study("study")
    arms = arm_results(study, ledger.trials(study))
    # 16 arms of two buckets in four features, less those of which no configuration is valid.
    assert len(arms) <= 16
    assert sum(arm["trials"] for arm in arms) == 31


def test_report_after_a_verification_states_its_scale(ledger: Ledger, tmp_path: Path) -> None:
    engine = Engine(rising, own_noise=0.002)
    run_study(spec(tuner="random", budget="20s"), engine, ledger)
    verify_study(spec(tuner="random", budget="20s"), engine, ledger, 4)
    page = page_of(ledger, tmp_path)
    assert "on a 1/4 model" in page.text
    assert "Verify 1/4: 10 trials" in page.text
    assert {"Latency", "Device traffic"} <= set(page.headings)
    # The proof at 1/4 runs for 120 s / 4, not for the search's 120 s / 64.
    series = json.loads(page.scripts["throughputoverarun0"])["data"]
    assert max(series[0]["x"]) == pytest.approx(30.0, rel=0.05)


def always_fails(_configuration: Configuration, _seed: int, _until_s: float) -> Status:
    return Status.CRASHED


def breaks_above_the_baseline(configuration: Configuration, _seed: int, _until_s: float) -> Status | None:
    return Status.OUT_OF_MEMORY if configuration.get("write_buffer_size", 0) != 64 << 20 else None


@pytest.mark.parametrize("fault", [always_fails, breaks_above_the_baseline])
def test_report_of_a_study_without_a_winner_keeps_the_baseline(
    ledger: Ledger, tmp_path: Path, fault: Callable[[Configuration, int, float], Status | None]
) -> None:
    run_study(spec(tuner="random", budget="20s"), Engine(rising, fault), ledger)
    page = page_of(ledger, tmp_path)
    assert "Keep the baseline" in page.text
    assert "failed" in page.text


@pytest.mark.parametrize("target", sorted(export_targets()))
def test_every_target_takes_a_real_study(ledger: Ledger, target: str) -> None:
    outcome = run_study(spec(tuner="random", budget="20s"), Engine(rising, own_noise=0.002), ledger)
    size = int(outcome.sides[outcome.recommended].configuration["write_buffer_size"])
    text = export_study(target, ledger.study("study"), outcome)
    assert "rocktune study 'study'" in text
    # In bytes or MiB, as the target has it; Cassandra has one space for all memtables.
    assert target == "cassandra" or str(size) in text or re.search(rf"\b{size >> 20} ?([Mm]i?[Bb])?\b", text)


def test_reproducing_command_makes_the_same_study(ledger: Ledger, tmp_path: Path) -> None:
    run_study(spec(tuner="random", budget="20s", memory="1234567890", seed=9), Engine(rising), ledger)
    study = ledger.study("study")
    outcome = recorded_outcome(ledger, study)
    assert outcome is not None
    page = Page(render_report(study, outcome, ledger.trials(study)))
    command = page.text[page.text.index("rocktune tune \\") :].split("Study")[0]
    words = command.replace("\\\n", " ").split()[2:]
    given = {name.removeprefix("--"): value for name, value in zip(words[::2], words[1::2], strict=True)}
    again = resolve(make_request(given | {"seed": int(given["seed"])}), "study")
    assert again.model_dump(mode="json") == study.spec
