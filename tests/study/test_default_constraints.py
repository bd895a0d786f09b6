"""Constraints that a study keeps by default, and bounds that follow from the baseline."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.study.small_studies import SMALL, Recorder, engine_of, response, run, spec_of, timeless, verify

from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.outcome import Bound, Outcome
from rocktune.report import bounds, findings
from rocktune.report.advice import advice
from rocktune.report.reproduce import command_lines
from rocktune.study import StudySpec
from rocktune.testing.dying import Died
from rocktune.testing.synthetic_engine import SyntheticEngine, no_fault
from rocktune.trial import Configuration

MIB = 1 << 20
BUDGET = 1000 * MIB
DEFAULTS = (
    "mean_space_amplification<=2",
    "max_space_amplification<=2",
    f"full_size_memory_bytes<={BUDGET}",
)
KEPT = (1.1, 9.0 * MIB)
Space = Callable[[Configuration], tuple[float, float]]


def steady_spec(**given: Any) -> StudySpec:
    return spec_of(protocol="steady", proof_pairs=6, **given)


def is_large(configuration: Configuration) -> bool:
    """Whether a configuration is among the fast ones; the baseline, with 64 MiB, is not."""
    return int(configuration.get("write_buffer_size", 0)) > 64 * MIB


def engine_with(space: Space) -> SyntheticEngine:
    return SyntheticEngine(response, no_fault, own_noise=0.002, space=space)


def bound_of(outcome: Outcome, field: str) -> Bound:
    (found,) = (bound for bound in outcome.bounds if bound.field == field)
    return found


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (
            ["read_latency_us_p99<=250", "read_latency_us_p99>=500"],
            "no figure keeps both read_latency_us_p99<=250",
        ),
        (["throughput_ops_s>=1.2x", "throughput_ops_s<=1.1x"], "keeps both throughput_ops_s<=1.1x and"),
        (["db_bytes<=1e400"], "'db_bytes<=1e400' has a bound that no number holds"),
    ],
)
def test_bounds_that_nothing_can_keep_are_refused(constraints: list[str], message: str) -> None:
    with pytest.raises(UserError, match=message):
        spec_of(constraints=constraints)


def test_a_range_and_bounds_of_two_kinds_are_kept() -> None:
    stated = ("db_bytes>=5", "db_bytes<=5", "db_bytes>=9x")
    assert spec_of(constraints=list(stated)).constraints == stated


@pytest.mark.parametrize(
    ("given", "stated", "defaults"),
    [
        ({}, (), DEFAULTS),
        ({"protocol": "short"}, (), ()),
        ({"constraints": ["none"]}, (), ()),
        ({"constraints": ["none", "db_bytes<=9"]}, ("db_bytes<=9",), ()),
        # A bound on the same figure replaces the default.
        ({"constraints": ["max_space_amplification<=3"]}, ("max_space_amplification<=3",), DEFAULTS[::2]),
    ],
)
def test_what_is_bounded_by_default(
    given: dict[str, Any], stated: tuple[str, ...], defaults: tuple[str, ...]
) -> None:
    spec = spec_of(**{"protocol": "steady", **given})
    assert (spec.constraints, spec.default_constraints) == (stated, defaults)
    document = spec.model_dump(mode="json")
    # Without defaults the document is that of older releases.
    assert ("default_constraints" in document) == bool(defaults)
    assert StudySpec.model_validate(document) == spec


def test_every_tuner_has_the_same_defaults() -> None:
    tuners = ("dremel", "tpe", "random", "ga")
    found = {steady_spec(tuner=tuner, budget_s=40).default_constraints for tuner in tuners}
    assert found == {DEFAULTS}


@pytest.mark.parametrize(
    ("field", "broken"),
    [
        ("max_space_amplification", (2.5, 9.0 * MIB)),
        # One interval of ten takes 20 times the data.
        ("mean_space_amplification", (20.0, 9.0 * MIB)),
        ("full_size_memory_bytes", (1.1, BUDGET + 1.0)),
    ],
)
def test_what_breaks_a_default_is_not_recommended(
    ledger: Ledger, field: str, broken: tuple[float, float]
) -> None:
    spec = steady_spec()
    fastest = Outcome.from_json(run(spec, engine_of(), ledger))
    assert fastest.best is not None
    assert is_large(Configuration(fastest.best.configuration))
    ledger.delete_study("study")
    engine = engine_with(lambda configuration: broken if is_large(configuration) else KEPT)
    outcome = Outcome.from_json(run(spec, engine, ledger))
    assert outcome.best is not None
    assert not is_large(Configuration(outcome.best.configuration))
    assert outcome.best.keeps_constraints
    bound = bound_of(outcome, field)
    assert (bound.is_default, bound.has_yielded) == (True, False)
    assert Outcome.from_json(outcome.to_json()) == outcome


def test_what_breaks_a_default_in_the_proof_alone_is_not_recommended(ledger: Ledger) -> None:
    """Aged stores may take more than those of the search."""
    engine: SyntheticEngine

    def space(configuration: Configuration) -> tuple[float, float]:
        return (2.5, 9.0 * MIB) if engine.experiments[-1].aged and is_large(configuration) else KEPT

    engine = engine_with(space)
    outcome = Outcome.from_json(run(steady_spec(), engine, ledger))
    assert outcome.best is not None
    assert outcome.ratio.low is not None
    assert outcome.ratio.low > 1
    assert (outcome.best.keeps_constraints, outcome.baseline.keeps_constraints) == (False, True)
    assert (outcome.recommended, outcome.tail) == ("baseline", None)
    broken = "maximum space amplification of at most 2"
    assert broken in findings.headline(outcome)
    assert broken in findings.verdict(outcome)
    rows = dict(bounds.bound_rows(outcome))
    assert rows["maximum space amplification (default)"] == ["at most 2.00", "2.50", "1.10"]
    assert rows["memory at full size (default)"] == ["at most 1000MiB", "9MiB", "9MiB"]


def test_a_default_yields_to_a_baseline_that_breaks_it(ledger: Ledger) -> None:
    observer = Recorder()
    engine = engine_with(lambda configuration: (2.3 if is_large(configuration) else 2.4, 9.0 * MIB))
    outcome = Outcome.from_json(run(steady_spec(), engine, ledger, observer))
    assert outcome.recommended == "best"
    bound = bound_of(outcome, "max_space_amplification")
    assert bound.has_yielded
    assert bound.bound == pytest.approx(1.05 * 2.4)
    told = "does not keep max_space_amplification<=2. The bound is 1.05 times its own figure"
    assert any(told in note for note in observer.notes)
    assert any("breaks the default constraint on maximum space" in line for line in advice(outcome))


def test_a_users_bound_does_not_yield(ledger: Ledger) -> None:
    spec = steady_spec(constraints=["max_space_amplification<=2"])
    outcome = Outcome.from_json(run(spec, engine_with(lambda _: (2.4, 9.0 * MIB)), ledger))
    assert (outcome.best, outcome.recommended) == (None, "baseline")
    assert "none keeps max_space_amplification<=2" in findings.headline(outcome)
    assert bound_of(outcome, "max_space_amplification").bound == 2


def test_a_bound_relative_to_the_baseline(ledger: Ledger) -> None:
    """Reads take the longer, the larger the memtables are; the baseline's are of 64 MiB."""
    text = "read_latency_us_p99<=1.25x"
    spec = spec_of(constraints=[text])

    def latency_us(configuration: Configuration, _throughput: float) -> float:
        return float(configuration.get("write_buffer_size", 0)) / MIB + 1

    engine = SyntheticEngine(response, no_fault, own_noise=0.002, latency_us=latency_us)
    outcome = Outcome.from_json(run(spec, engine, ledger))
    assert outcome.best is not None
    assert (outcome.constraints, outcome.default_constraints) == ((text,), ())
    (bound,) = outcome.bounds
    assert bound.constraint == text
    assert bound.bound == pytest.approx(1.25 * 65, rel=0.02)
    assert outcome.best.figure("read_latency_us_p99").value <= bound.bound  # type: ignore[operator]
    label, texts = bounds.bound_rows(outcome)[0]
    assert (label, texts[0].partition(" (")[2]) == ("read latency p99", "1.25× the baseline)")


def test_a_relative_bound_on_what_the_baseline_lacks_is_an_error(ledger: Ledger) -> None:
    spec = spec_of(constraints=["level0_to_level1_us_p99<=1.25x"])
    with pytest.raises(UserError, match="baseline's run has no such figure; give the bound as a number"):
        run(spec, engine_of(), ledger)


def test_bounds_are_the_same_after_a_kill(ledger: Ledger) -> None:
    spec = steady_spec(constraints=["write_latency_us_p99<=1.5x"])

    def engine() -> SyntheticEngine:
        return engine_with(lambda configuration: (2.3 if is_large(configuration) else 2.4, 9.0 * MIB))

    whole, observer = run(spec, engine(), ledger, Recorder()), Recorder()
    count = len(ledger.trials(ledger.study("study")))
    # After the baseline, within the search, and within the proof.
    for dies_after in (4, 9, count - 20):
        ledger.delete_study("study")
        with pytest.raises(Died):
            run(spec, engine(), ledger, Recorder(dies_after=dies_after))
        observer = Recorder()
        assert timeless(run(spec, engine(), ledger, observer)) == timeless(whole)
        assert len(observer.finished) == count - dies_after


def test_a_worse_p999_alone_is_not_recommended(ledger: Ledger) -> None:
    loose = SMALL | {"max_p99_ratio": 9.0, "max_longest_wait_ratio": 9.0}

    def latency_us(configuration: Configuration, _throughput: float) -> float:
        return 140.0 if is_large(configuration) else 100.0

    engine = SyntheticEngine(response, no_fault, own_noise=0.002, latency_us=latency_us)
    outcome = Outcome.from_json(run(steady_spec(verification=loose), engine, ledger))
    assert outcome.tail is not None
    assert (outcome.tail.verdict, outcome.recommended) == ("worse", "baseline")
    assert outcome.tail.p999_ratio is not None
    assert outcome.tail.p999_ratio.value == pytest.approx(1.4, rel=0.02)
    assert outcome.tail.max_p999_ratio == 1.25


def test_a_proof_at_another_scale_has_its_own_bounds(ledger: Ledger) -> None:
    scales: list[int] = []
    engine: SyntheticEngine

    def space(_configuration: Configuration) -> tuple[float, float]:
        scales.append(engine.experiments[-1].scale)
        return (2.4 if scales[-1] == 16 else 1.1, 9.0 * MIB)

    engine = engine_with(space)
    spec = steady_spec()
    run(spec, engine, ledger)
    outcome = Outcome.from_json(verify(spec, engine, ledger, 16))
    bounded = {
        scale: next(bound for bound in proof.bounds if bound.field == "max_space_amplification")
        for scale, proof in outcome.verifications.items()
    }
    assert {scale: bound.bound for scale, bound in bounded.items()} == {
        "1/64": 2.0,
        "1/16": pytest.approx(1.05 * 2.4),
    }
    assert bound_of(outcome, "max_space_amplification") == bounded["1/16"]


def test_the_command_repeats_the_bounds(ledger: Ledger) -> None:
    for asked, written in (([], []), (["none"], ["none"]), (["db_bytes<=1e15"], ["'db_bytes<=1e15'"])):
        outcome = Outcome.from_json(run(steady_spec(constraints=asked), engine_of(), ledger))
        lines = command_lines(ledger.study("study"), outcome)
        given = [line.strip(" \\").removeprefix("--constraint ") for line in lines if "--constraint" in line]
        assert given == written
        ledger.delete_study("study")
