from typing import Any

from tests.report import sample

from rocktune.report import findings, fronts, render_report

BOTH = "throughput_ops_s, read_latency_us_p99"
WITHIN = "read_latency_us_p99<=250"


def front_outcome() -> dict[str, Any]:
    points = [(76_000.0, 420.0, 80), (64_000.0, 310.0, 64), (51_000.0, 240.0, 40)]
    front = [
        {
            "configuration": dict(sample.BASELINE.replaced({"write_buffer_size": size << 20})),
            "options": {"db": {}, "cf": {}, "table": {}},
            "throughput_ops_s": throughput,
            "read_latency_us_p99": latency,
        }
        for throughput, latency, size in points
    ]
    return sample.outcome() | {"objective": BOTH, "constraints": [WITHIN], "front": front}


def missed_outcome() -> dict[str, Any]:
    nearest = {"configuration": dict(sample.BEST), "options": {}, "read_latency_us_p99": 281.0}
    return (
        sample.outcome()
        | dict.fromkeys(("best", "rocksdb_defaults", "ratio_to_baseline", "ratio_to_rocksdb_defaults"))
        | {"constraints": [WITHIN], "nearest_miss": nearest, "recommended": "baseline", "front": []}
    )


def test_a_study_of_one_objective_has_no_such_section() -> None:
    assert fronts.section(sample.outcome(), sample.trials()) == ""


def test_trials_that_break_a_constraint_are_marked() -> None:
    tight = front_outcome() | {"constraints": ["read_latency_us_p99<=220"]}
    figure = fronts.scatter(tight, sample.trials())
    assert figure is not None
    names = [trace["name"] for trace in figure["data"]]
    assert "Breaks a constraint" in names
    front = next(trace for trace in figure["data"] if trace["name"] == "Front")
    assert list(zip(front["x"], front["y"], strict=True)) == [(76_000, 420), (64_000, 310), (51_000, 240)]


def test_every_point_is_listed_with_what_it_changes_and_how_to_export_it() -> None:
    page = render_report(sample.study(), front_outcome(), sample.trials())
    assert "--point NUMBER" in page
    for shown in ("76,000", "write_buffer_size=40MiB"):
        assert shown in page


def test_what_no_configuration_keeps_is_said_plainly() -> None:
    outcome = missed_outcome()
    assert findings.headline(outcome) == f"No feasible configuration found: none keeps {WITHIN}"
    assert "The nearest miss had read latency p99 281 µs." in findings.verdict(outcome)
    assert "No feasible configuration found" in render_report(sample.study(), outcome, sample.trials())


def test_keeping_a_constraint_that_the_baseline_breaks_is_the_result() -> None:
    outcome = sample.outcome() | {
        "constraints": [WITHIN],
        "ratio_to_baseline": {"value": 0.9, "low": 0.8, "high": 1.0},
    }
    outcome["baseline"] = outcome["baseline"] | {"keeps_constraints": False}
    outcome["best"] = outcome["best"] | {"keeps_constraints": True}
    assert findings.headline(outcome).startswith(
        f"Keeps {WITHIN}, which the tuning guide's configuration does not"
    )
    assert findings.verdict(outcome).startswith("Use the tuned configuration.")
    broken = outcome | {"best": outcome["best"] | {"keeps_constraints": False}, "recommended": "baseline"}
    assert "but not in the fresh runs of the proof" in findings.verdict(broken)
    assert findings.headline(broken) == f"Nothing proven to keep {WITHIN}, on a 1/64 model"
