import json
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from tests.tuners.process.programs import SEARCHES, answering, definition

from rocktune.errors import UserError
from rocktune.space import load_space
from rocktune.testing.tuners import (
    Transcript,
    TunerConformance,
    drive,
    failing_response,
    synthetic_problem,
)
from rocktune.trial import Status, Trial
from rocktune.tuners import Problem, Tuner, tuner_named

READS = "sys.stdin.readline(); "


class TestProcess(TunerConformance):
    @pytest.fixture(params=[1, 3])
    def tuner(self, tmp_path: Path, request: pytest.FixtureRequest) -> Tuner:
        settings = {"settings": {"at_once": request.param}}
        return tuner_named(str(definition(tmp_path, SEARCHES)), settings)


class TestTutorial(TunerConformance):
    """The program of the tutorial."""

    @pytest.fixture
    def tuner(self, tmp_path: Path) -> Tuner:
        text = (Path(__file__).parents[3] / "docs" / "tutorials" / "add-a-tuner.md").read_text()
        code = text.partition("```python file=outside.py\n")[2].partition("```")[0]
        assert code
        return tuner_named(str(definition(tmp_path, code)))


def problem(trials: int = 12, **changes: Any) -> Problem:
    return replace(synthetic_problem(64, trials * 120 / 64), **changes)


def searched(
    folder: Path, code: str, given: Problem | None = None, more: str = "", **driven: Any
) -> Transcript:
    tuner = tuner_named(str(definition(folder, code, more)))
    return drive(tuner.search(given or problem(), np.random.default_rng(1)), **driven)


def told_by(folder: Path, code: str, given: Problem | None = None, **driven: Any) -> list[dict[str, Any]]:
    """Returns all messages that the program got."""
    log = folder / "told"
    logged = code.replace("sys.stdin.readline()", f"tee(sys.stdin.readline(), {str(log)!r})")
    tee = "def tee(line, path):\n    open(path, 'a').write(line)\n    return line\n"
    searched(folder, tee + logged, given, **driven)
    return [json.loads(line) for line in log.read_text().splitlines()]


def only(results: list[Mapping[str, Any]]) -> Mapping[str, Any]:
    (result,) = results
    return result


def test_the_first_message_is_the_problem(tmp_path: Path) -> None:
    given = problem(
        space=load_space("full", None, 1e7),
        objective=synthetic_problem(
            objective=("throughput_ops_s", "read_latency_us_p99"), constraints=("db_bytes<=5",)
        ).objective,
    )
    given = replace(given, baseline=given.space.default())
    first = told_by(tmp_path, answering("asks()"), given)[0]
    assert (first["results"], first["left_s"]) == ([], given.budget_s)
    told = first["problem"]
    assert told["protocol"] == 1
    assert told["objective"] == [
        {"figure": "throughput_ops_s", "direction": "max"},
        {"figure": "read_latency_us_p99", "direction": "min"},
    ]
    assert told["constraints"] == [{"figure": "db_bytes", "at_most": True, "bound": 5.0}]
    assert (told["trial_s"], told["budget_s"], told["scale"]) == (120 / 64, given.budget_s, 64)
    knobs = {knob["name"]: knob for knob in told["knobs"]}
    assert len(knobs) == len(given.space.knobs)
    assert knobs["write_buffer_size"] == {
        "name": "write_buffer_size", "unit": "bytes", "type": "integer", "low": 16 << 20, "high": 128 << 20,
        "step": 1 << 20, "log": False, "default": 64 << 20, "when": [],
    }  # fmt: skip
    assert knobs["universal_size_ratio"]["choices"] == [1, 5, 10, 20, 50, 100]
    assert knobs["universal_size_ratio"]["when"] == [
        {"knob": "compaction_style", "values": ["kCompactionStyleUniversal"], "unless": False}
    ]
    assert told["default"] == told["baseline"] == dict(given.space.default())
    assert len(told["rules"]) == 8


def test_results_come_in_order_with_figures_and_violation(tmp_path: Path) -> None:
    two = "{'trials': [{'configuration': {'num_levels': n}} for n in (5, 6)]}"
    given = problem(
        objective=synthetic_problem(constraints=("throughput_ops_s>=1", "scan_latency_us_p99<=5")).objective
    )
    told = told_by(tmp_path, answering(two, "asks(num_levels=7)", "asks(num_levels=8)"), given)
    assert [each["configuration"]["num_levels"] for each in told[1]["results"]] == [5, 6]
    result = only(told[2]["results"])
    assert result["configuration"] == dict(given.space.default().replaced({"num_levels": 7}))
    assert result["status"] == "ok"
    assert result["figures"]["throughput_ops_s"] > 0
    # The constraint is on a figure that this workload does not have.
    assert "scan_latency_us_p99" not in result["figures"]
    assert result["violation"] is None
    assert told[2]["left_s"] == pytest.approx(given.budget_s - 3 * 120 / 64)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("asks(num_level=5)", "unknown knob 'num_level': did you mean 'num_levels'?"),
        ("asks(num_levels=99)", "num_levels: 99 is outside 2 to 10"),
        ("asks(num_levels=10**400)", "num_levels: 1000"),
        ("asks(num_levels=5.5)", "num_levels: 5.5 is not a whole number"),
        ("asks(num_levels=True)", "num_levels: True is not a whole number"),
        ("asks(num_levels='5')", "num_levels: '5' is not a whole number"),
        ("asks(num_levels=[5])", "num_levels: [5] is not a value; use a number"),
        ("asks(block_size=3000)", "block_size: 3000 is not one of 2048, 4096"),
    ],
)
def test_an_impossible_value_is_answered_with_the_reason(tmp_path: Path, asked: str, reason: str) -> None:
    told = told_by(tmp_path, answering(asked, "asks(num_levels=5.0)", "asks(num_levels=6)"))
    refused = only(told[1]["results"])
    assert refused["status"] == "invalid"
    assert refused["message"].startswith(reason)
    assert refused["figures"] == {}
    # It costs nothing, and some languages have no whole numbers.
    assert told[1]["left_s"] == told[0]["left_s"]
    assert only(told[2]["results"])["configuration"]["num_levels"] == 5


def test_refusals_and_results_keep_the_order_of_the_batch(tmp_path: Path) -> None:
    three = "{'trials': [{'configuration': {'num_levels': n}} for n in (5, 99, 6)]}"
    told = told_by(tmp_path, answering(three, "asks(num_levels=7)"))
    assert [each["status"] for each in told[1]["results"]] == ["ok", "invalid", "ok"]
    assert [each["configuration"]["num_levels"] for each in told[1]["results"]] == [5, 99, 6]


def test_a_broken_rule_is_repaired_and_the_result_has_what_was_measured(tmp_path: Path) -> None:
    wanted = "asks(level0_stop_writes_trigger=10, level0_slowdown_writes_trigger=20, num_levels=6)"
    told = told_by(tmp_path, answering(wanted, "asks(num_levels=5)"))
    measured = only(told[1]["results"])["configuration"]
    problem().space.validate(measured)
    assert measured["num_levels"] == 6


def test_inactive_knobs_are_dropped_and_missing_ones_have_their_defaults(tmp_path: Path) -> None:
    space = load_space("full", None, 1e7)
    given = problem(space=space, baseline=space.default())
    asked = "asks(compaction_style='kCompactionStyleUniversal', compaction_pri='kByCompensatedSize')"
    told = told_by(tmp_path, answering(asked, "asks()"), given)
    measured = only(told[1]["results"])["configuration"]
    assert "compaction_pri" not in measured
    assert measured["universal_size_ratio"] == 1


def test_what_is_known_is_not_measured_again(tmp_path: Path) -> None:
    code = answering("asks(num_levels=5)", "asks(num_levels=5)", "asks(num_levels=6)", end=READS)
    assert len(searched(tmp_path, code).configurations) == 2
    told = told_by(tmp_path, code)
    assert told[2]["results"] == told[1]["results"]
    assert told[2]["left_s"] == told[1]["left_s"]


def test_failures_are_told_and_not_asked_for_again(tmp_path: Path) -> None:
    older = "{'trials': [{'configuration': {}, 'until_s': 3.0}]}"
    told = told_by(
        tmp_path,
        answering("asks()", older, "asks(num_levels=5)"),
        respond=failing_response([Status.OUT_OF_MEMORY]),
    )
    for message in told[1:3]:
        assert only(message["results"])["status"] == "out_of_memory"
        assert only(message["results"])["message"] == "made up"


def test_a_run_continues_in_the_next_batch_only(tmp_path: Path) -> None:
    def asks(levels: int, until_s: float) -> str:
        return f"{{'trials': [{{'configuration': {{'num_levels': {levels}}}, 'until_s': {until_s}}}]}}"

    code = answering(
        asks(5, 1.0), asks(5, 2.0), asks(6, 1.0), asks(5, 3.0), asks(6, 0.5), asks(7, 1.0), end=READS
    )
    transcript = searched(tmp_path, code)
    assert [
        [(trial.configuration["num_levels"], trial.until_s) for trial in batch.trials]
        for batch in transcript.batches
    ] == [[(5, 1.0)], [(5, 2.0)], [(6, 1.0)], [(7, 1.0)], []]
    assert [len(batch.release) for batch in transcript.batches] == [0, 0, 1, 1, 0]
    told = told_by(tmp_path, code)
    assert "its run has ended" in only(told[4]["results"])["message"]
    assert only(told[5]["results"])["message"] == "until_s: 0.5 is less than 1, the run's age"
    # Continuing costs the added seconds, or all if runs cannot continue.
    assert told[2]["left_s"] == pytest.approx(told[0]["left_s"] - 2.0)
    (tmp_path / "told").unlink()
    told = told_by(tmp_path, code, problem(runs_continue=False), runs_continue=False)
    assert told[2]["left_s"] == pytest.approx(told[0]["left_s"] - 3.0)


def test_two_trials_of_one_run_in_a_batch(tmp_path: Path) -> None:
    def batch(*ages: float) -> str:
        return str({"trials": [{"configuration": {}, "until_s": age} for age in ages]})

    told = told_by(tmp_path, answering(batch(1.0, 1.0, 2.0), "asks()"))
    assert [each["status"] for each in told[1]["results"]] == ["ok", "ok", "invalid"]
    assert told[1]["left_s"] == pytest.approx(told[0]["left_s"] - 1.0)


def test_the_search_ends_when_nothing_of_a_batch_fits_the_budget(tmp_path: Path) -> None:
    given = problem(3)
    many = "{'trials': [{'configuration': {'num_levels': n}} for n in range(3, 9)]}"
    transcript = searched(tmp_path, answering(many, many), given)
    assert [len(batch.trials) for batch in transcript.batches] == [3]
    # A third of a trial is left, for which the program asks in vain.
    given = replace(given, budget_s=given.budget_s * 10 / 9)
    other = "asks(num_levels=10)"
    transcript = searched(tmp_path, answering(many, other, other), given)
    assert [len(batch.trials) for batch in transcript.batches] == [3, 0]
    told = told_by(tmp_path, answering(many, other, other), given)
    assert "budget: 0.625 s are left, and the trial costs 1.875 s" in told[1]["results"][3]["message"]


def test_the_program_may_end_the_search(tmp_path: Path) -> None:
    transcript = searched(tmp_path, answering("asks()", "asks(num_levels=5)", end=READS))
    assert [len(batch.trials) for batch in transcript.batches] == [1, 1, 0]


def test_a_used_up_space_ends_the_search(tmp_path: Path) -> None:
    transcript = searched(tmp_path, answering(*["asks()"] * 202))
    assert [len(batch.trials) for batch in transcript.batches] == [1, 0]


def test_endless_refusals_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="its last 200 answers had nothing to measure: unknown knob 'x'"):
        searched(tmp_path, answering(*["asks(x=1)"] * 202))


def test_a_resumed_search_tells_the_program_all_it_missed(tmp_path: Path) -> None:
    whole = searched(tmp_path, SEARCHES)
    recorded = whole.killed_after(5)
    read = "told = json.loads(sys.stdin.readline()); "
    code = answering("asks(num_levels=9)", end=f"{read}assert 'problem' not in told")
    first, *_ = told_by(tmp_path, code, recorded=recorded)
    assert [each["configuration"] for each in first["results"]] == [
        dict(batch.trials[0].configuration) for batch in recorded.batches
    ]
    assert first["left_s"] == pytest.approx(problem().budget_s - len(recorded.batches) * 120 / 64)


def test_a_search_that_is_all_recorded_does_not_start_the_program(tmp_path: Path) -> None:
    whole = searched(tmp_path, answering("asks()", "asks(num_levels=5)", end=READS))
    again = searched(tmp_path, "raise SystemExit(1)", recorded=whole)
    assert again.batches == whole.batches


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            answering("asks()", end="sys.exit('no\\nidea')"),
            "ended with exit status 1; it last said: no / idea",
        ),
        (answering("asks()", end=f"{READS}1/0"), "1; it last said: .*ZeroDivisionError: division by zero"),
        (answering("asks()", end=f"{READS}os.kill(os.getpid(), 9)"), r"killed by signal 9 \(Killed\)$"),
        (answering("asks()", end=f"{READS}time.sleep(600)"), r"no answer within 1 s; set answer_s if it"),
        (answering("asks()", "'oh no'"), "its answer is no object of JSON: oh no$"),
        (answering("asks()", "'null'"), "its answer is no object of JSON: null$"),
        (answering("asks()", "'[' * 100000"), r"its answer is no object of JSON: \[\["),
        (answering("asks()", end=f"{READS}sys.stdout.write('{{')"), "ended in the middle of a line: {$"),
        (answering("asks()", end="os.close(1); time.sleep(600)"), "closed its output without ending$"),
        (answering(end="sys.exit()"), "ended before anything was measured$"),
        (answering("{'trials': []}"), "its answer: trials: needs at least 1"),
        (answering("{'trial': []}"), "its answer: unknown field 'trial': did you mean 'trials'"),
        (answering("{'trials': [{'configuration': {}, 'until_s': -1}]}"), r"trials\[1\].until_s: .* -1$"),
        (answering('\'{"trials": [{"configuration": {}, "until_s": NaN}]}\''), "no object of JSON"),
    ],
)
def test_a_broken_program_is_one_line(
    tmp_path: Path, code: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rocktune.tuners.process.program._END_TIMEOUT_S", 2.0)
    with pytest.raises(UserError, match=message) as failure:
        searched(tmp_path, code, more="answer_s = 1.0\n" if message.startswith("no answer") else "")
    assert str(failure.value).startswith(f"tuner 'outside' ({sys.executable} -S ")
    assert "\n" not in str(failure.value)


def test_what_a_program_started_ends_with_it(tmp_path: Path) -> None:
    started = "child = __import__('subprocess').Popen(['sleep', '600']).pid\n"
    code = answering("asks()", end=f"{started}open({str(tmp_path / 'pid')!r}, 'w').write(str(child))")
    searched(tmp_path, code)
    pid = int((tmp_path / "pid").read_text())
    # The kernel ends it a little later, and whoever adopts it may reap it late.
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(pid).status() != psutil.STATUS_ZOMBIE:
            time.sleep(0.05)


def test_trials_are_those_of_the_protocol(tmp_path: Path) -> None:
    (batch, *_) = searched(tmp_path, answering("asks()", end=READS)).batches
    assert batch.trials == (Trial(problem().space.default(), 120 / 64),)
