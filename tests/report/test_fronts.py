from tests.report import sample

from rocktune.outcome import Outcome
from rocktune.report import findings, fronts, render_report

BOTH = "throughput_ops_s, read_latency_us_p99"
WITHIN = "read_latency_us_p99<=250"


def front_outcome(constraint: str = WITHIN) -> Outcome:
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
    return sample.outcome(objective=BOTH, constraints=[constraint], front=front)


def missed_outcome() -> Outcome:
    nearest = {"configuration": dict(sample.BEST), "options": {}, "read_latency_us_p99": 281.0}
    return sample.unproven_outcome(constraints=[WITHIN], nearest_miss=nearest, front=[])


def test_a_study_of_one_objective_has_no_such_section() -> None:
    assert fronts.section(sample.outcome(), sample.trials()) == ""


def test_trials_that_break_a_constraint_are_marked() -> None:
    figure = fronts.scatter(front_outcome("read_latency_us_p99<=220"), sample.trials())
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
    document = sample.document()
    changes = {"constraints": [WITHIN], "ratio_to_baseline": sample.interval(0.9, 0.8, 1.0)}
    changes["baseline"] = document["baseline"] | {"keeps_constraints": False}
    outcome = sample.outcome(**changes | {"best": document["best"] | {"keeps_constraints": True}})
    assert findings.headline(outcome).startswith(
        f"Keeps {WITHIN}, which the tuning guide's configuration does not"
    )
    assert findings.verdict(outcome).startswith("Use the tuned configuration.")
    best = document["best"] | {"keeps_constraints": False}
    broken = sample.outcome(**changes | {"best": best, "recommended": "baseline"})
    assert "but not in the fresh runs of the proof" in findings.verdict(broken)
    assert findings.headline(broken) == f"No configuration proven to keep {WITHIN}, on a 1/64 model"


def test_noise_and_points_alike_are_named() -> None:
    outcome = front_outcome()
    assert fronts.noise_sentences(outcome) == []
    first, second, third = outcome.front
    alike = (
        first.model_copy(update={"alike": (2, 3)}),
        second.model_copy(update={"alike": (1,)}),
        third.model_copy(update={"alike": (1,)}),
    )
    noise = {"throughput_ops_s": 1.021, "read_latency_us_p99": 1.5}
    outcome = outcome.model_copy(update={"front": alike, "front_noise": noise})
    sentences = [
        "Differences of up to 2.1% in throughput and 50% in read latency p99 between two points may be "
        "chance (95%).",
        "Point 1 cannot be told apart from points 2 and 3 in any objective.",
    ]
    assert fronts.noise_sentences(outcome) == sentences
    assert " ".join(sentences) in render_report(sample.study(), outcome, sample.trials())
