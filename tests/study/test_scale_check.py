"""Tests of scale checks, with a synthetic engine for each model."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rocktune.engine.base import Progress
from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.outcome import ScaleCheck
from rocktune.study import (
    ScaleCheckSpec,
    StudyInterrupted,
    kept_trials,
    make_request,
    recorded_spec,
    resolve_scale_check,
    run_scale_check,
    runs_at_most,
    scale_check_of,
    scale_check_s,
    space_of,
    table_of,
)
from rocktune.testing.dying import Died, DiesAfter
from rocktune.testing.synthetic_engine import Fault, SyntheticEngine, SyntheticRun, no_fault
from rocktune.trial import Configuration, Experiment, Status

Response = Callable[[Configuration], float]


def by_buffer(configuration: Configuration) -> float:
    return 10_000 + float(configuration["write_buffer_size"]) / (1 << 12)


def by_smaller_buffer(configuration: Configuration) -> float:
    return 4e12 / (float(configuration["write_buffer_size"]) + (64 << 20))


class TwoModels(SyntheticEngine):
    """Opens each run with the synthetic engine of its scale, 64 or 16."""

    def __init__(self, small: Response, larger: Response, fault: Fault = no_fault, noise: float = 0.002):
        super().__init__(small)
        self.models = {
            64: SyntheticEngine(small, fault, own_noise=noise),
            16: SyntheticEngine(larger, own_noise=noise),
        }

    def open(
        self,
        experiment: Experiment,
        configuration: Configuration,
        seed: int,
        progress: Progress | None = None,
    ) -> SyntheticRun:
        self.opened.append((configuration, seed))
        self.experiments.append(experiment)
        return self.models[experiment.scale].open(experiment, configuration, seed, progress)


def spec_of(configurations: int = 20, **given: Any) -> ScaleCheckSpec:
    request = make_request({"workload": "dremel-write-heavy", "device": "ssd-100mb", "seed": 3} | given)
    return resolve_scale_check(request, "c", configurations)


def check(ledger: Ledger, small: Response, larger: Response, **given: Any) -> ScaleCheck:
    return run_scale_check(spec_of(**given), TwoModels(small, larger), ledger)


def test_a_scale_that_ranks(ledger: Ledger) -> None:
    found = check(ledger, by_buffer, lambda configuration: 3 * by_buffer(configuration))
    assert found.verdict == "ranks"
    assert found.correlation.value is not None
    assert found.correlation.low is not None
    assert 0.5 <= found.correlation.low <= found.correlation.value <= 1
    assert found.regret.value == pytest.approx(0, abs=0.01)
    assert found.regret.repeats == 3
    assert (found.configurations, found.failed, found.disturbed) == (20, 0, 0)
    assert (found.scale, found.larger_scale, found.protocol) == ("1/64", "1/16", "steady")
    assert found.figure == "sustained_throughput_ops_s"
    assert (found.workload, found.device, found.space) == ("dremel-write-heavy", "ssd-100mb", "full")
    assert [each.rank for each in found.foremost] == [1, 2, 3, 4, 5]
    assert all(each.larger_mean for each in found.foremost)
    assert ScaleCheck.model_validate(found.model_dump(mode="json")) == found
    assert found.to_json()["verdict"] == "ranks"


def test_a_scale_that_does_not_rank(ledger: Ledger) -> None:
    found = check(ledger, by_smaller_buffer, by_buffer)
    assert found.verdict == "does not rank"
    assert found.correlation.value is not None
    assert found.correlation.value < 0
    assert found.regret.value is not None
    assert found.regret.value > 0.3
    assert found.foremost[0].larger_rank > 10


def test_a_correlation_alone_does_not_make_it_rank(ledger: Ledger) -> None:
    """The larger model has one configuration far ahead, which the checked one ranks last."""
    worst = min(map(by_buffer, drawn(spec_of(60))))

    def larger(configuration: Configuration) -> float:
        return by_buffer(configuration) * (20 if by_buffer(configuration) == worst else 1)

    found = check(ledger, by_buffer, larger, configurations=60)
    assert found.correlation.low is not None
    assert found.correlation.low > 0.5
    assert found.regret.value is not None
    assert found.regret.value > 0.05
    assert found.verdict == "does not rank"


def drawn(spec: ScaleCheckSpec) -> list[Configuration]:
    from rocktune.study.scale_check import configurations_of

    return configurations_of(spec, space_of(spec))


def test_smaller_is_better_for_a_latency(ledger: Ledger) -> None:
    found = check(ledger, by_smaller_buffer, by_buffer, objective="read_latency_us_p99", scale="1/64")
    assert found.verdict == "does not rank"
    assert found.regret.value is not None
    assert found.regret.value > 0.3
    fastest = found.foremost[0]
    assert fastest.figure == min(each.figure for each in found.foremost)
    assert fastest.configuration["write_buffer_size"] == min(
        int(each["write_buffer_size"]) for each in drawn(spec_of())
    )


def test_luck_does_not_choose(ledger: Ledger) -> None:
    """Equal configurations have no regret beyond noise, however the noise orders them."""
    rng = np.random.default_rng(5)

    def noisy(_: Configuration) -> float:
        return 1e4 * float(np.exp(rng.normal(0, 0.1)))

    regrets = []
    for seed in range(8):
        spec = spec_of(seed=seed).model_copy(update={"name": f"c{seed}"})
        found = run_scale_check(spec, TwoModels(noisy, noisy), ledger)
        assert found.verdict == "does not rank"
        assert found.regret.value is not None
        regrets.append(found.regret.value)
    # The mean of differences of two choices, of which each is chosen by other runs, is 0; the standard error
    # of 8 is at most 0.1 * sqrt(2 / 3 / 8). The best of ten would be ahead by 0.15.
    assert abs(sum(regrets) / 8) < 3 * 0.1 * math.sqrt(2 / 3 / 8)


def test_the_runs_are_interleaved_on_equal_random_numbers_with_the_default(ledger: Ledger) -> None:
    engine, spec = TwoModels(by_buffer, by_buffer), spec_of()
    run_scale_check(spec, engine, ledger)
    ranked = list(zip(engine.opened[:40], engine.experiments[:40], strict=True))
    assert len({seed for (_, seed), _ in ranked}) == 1
    assert [experiment.scale for _, experiment in ranked[:4]] == [64, 16, 16, 64]
    assert all(one[0][0] == other[0][0] for one, other in zip(ranked[::2], ranked[1::2], strict=True))
    configurations = [configuration for (configuration, _), _ in ranked[::2]]
    assert len(set(configurations)) == 20
    assert space_of(spec).default() in configurations
    chosen = list(zip(engine.opened[40:], engine.experiments[40:], strict=True))
    assert len({seed for (_, seed), _ in chosen}) == 3
    assert not {seed for (_, seed), _ in chosen} & {seed for (_, seed), _ in ranked}
    assert len(chosen) <= runs_at_most(spec) - 40
    for experiment in engine.experiments:
        assert experiment.workload.preload.keys == experiment.workload.keys
        assert {session.arrival.kind for session in experiment.workload.sessions} == {"closed"}
    ages = {record.trial.until_s for record in ledger.trials(ledger.study("c"))}
    assert ages == {120 / 64, 120 / 16}
    assert scale_check_s(spec) == pytest.approx(35 * (120 / 64 + 0.5) + 50 * (120 / 16 + 0.5))


def test_the_short_protocol_begins_on_the_workloads_own_store(ledger: Ledger) -> None:
    spec = spec_of(protocol="short", scale="1/64")
    engine = TwoModels(by_buffer, by_buffer)
    found = run_scale_check(spec, engine, ledger)
    assert (found.protocol, found.figure) == ("short", "throughput_ops_s")
    assert engine.experiments[0].workload == spec.workload
    assert spec.workload.preload.keys == 0


@pytest.mark.parametrize("trials", [7, 40, 44])
def test_a_check_that_died_goes_on_where_it_was(ledger: Ledger, trials: int) -> None:
    whole_engine = TwoModels(by_buffer, by_buffer)
    whole = run_scale_check(spec_of().model_copy(update={"name": "whole"}), whole_engine, ledger)
    spec = spec_of()
    with pytest.raises(Died):
        run_scale_check(spec, TwoModels(by_buffer, by_buffer), ledger, DiesAfter(trials))
    with pytest.raises(UserError, match="study 'c' is not finished; 'rocktune resume c' continues it"):
        scale_check_of(spec, ledger, ledger.study("c"))
    engine = TwoModels(by_buffer, by_buffer)
    assert run_scale_check(spec, engine, ledger) == whole
    assert len(engine.opened) == len(whole_engine.opened) - trials
    again = TwoModels(by_buffer, by_buffer)
    assert run_scale_check(spec, again, ledger) == whole
    assert not again.opened
    assert recorded_spec(ledger.study("c").spec) == spec


def test_ctrl_c_says_how_to_go_on(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    from rocktune.study.measuring.interrupt import Interrupt

    class Stopped(Interrupt):
        def __enter__(self) -> Interrupt:
            self.requested = True
            return self

    monkeypatch.setattr("rocktune.study.scale_check.Interrupt", Stopped)
    with pytest.raises(StudyInterrupted) as stopped:
        check(ledger, by_buffer, by_buffer)
    assert stopped.value.resume.startswith("rocktune resume c")
    assert stopped.value.so_far == "1 of at most 85 runs are measured."
    assert ledger.study("c").state == "interrupted"


def test_a_disturbed_run_is_repeated_alone(ledger: Ledger) -> None:
    engine = TwoModels(by_buffer, by_buffer)
    shares = iter([0.01, 0.5])
    engine.models[16].others_share = lambda: next(shares, 0.01)
    found = run_scale_check(spec_of(), engine, ledger)
    assert found.disturbed == 0
    # The second run at the larger model is measured again after the 40 of the ranking.
    assert engine.opened[40] == engine.opened[2]
    assert engine.experiments[40].scale == 16
    assert len(kept_trials(ledger, ledger.study("c"))) == len(engine.opened) - 1


def failing(share: int) -> Fault:
    def fault(configuration: Configuration, _seed: int, until_s: float) -> Status | None:
        fails = until_s and (int(configuration["write_buffer_size"]) >> 20) % 4 < share
        return Status.CRASHED if fails else None

    return fault


def test_failed_configurations_are_counted_and_too_many_decide_nothing(ledger: Ledger) -> None:
    found = run_scale_check(spec_of(), TwoModels(by_buffer, by_buffer, failing(1)), ledger)
    assert 0 < found.failed < 10
    assert found.configurations == 20 - found.failed
    assert found.verdict == "ranks"
    spec = spec_of().model_copy(update={"name": "all"})
    nothing = run_scale_check(spec, TwoModels(by_buffer, by_buffer, failing(4)), ledger)
    assert nothing.verdict == "undecided"
    assert (nothing.configurations, nothing.failed, nothing.foremost) == (0, 20, ())
    assert nothing.correlation.value is nothing.regret.value is None


def test_what_cannot_be_checked_is_refused(ledger: Ledger) -> None:
    refused: list[tuple[str, dict[str, Any]]] = [
        ("scale: 1 has no model 4 times larger; give 1/S with S a multiple of 4", {"scale": "1"}),
        ("scale: 1/2 has no model 4 times larger", {"scale": "1/2"}),
        ("scale: 1/6 has no model 4 times larger", {"scale": "1/6"}),
        ("objective: models are compared by one figure", {"objective": "balance"}),
        ("configurations: 19 must be from 20 to 1000", {"configurations": 19}),
        ("configurations: 1001 must be", {"configurations": 1001}),
    ]
    for message, given in refused:
        with pytest.raises(UserError, match=message):
            spec_of(**given)
    assert spec_of(scale="1/4").larger_scale == 1
    assert spec_of().scale == 64
    run_scale_check(spec_of(), TwoModels(by_buffer, by_buffer), ledger)
    with pytest.raises(UserError, match="study 'c': is a scale check, whose runs differ in their model"):
        table_of(ledger, ledger.study("c"))
    with pytest.raises(UserError, match="the name is taken by a study with other settings"):
        run_scale_check(spec_of(21), TwoModels(by_buffer, by_buffer), ledger)


SMALL_SPACE = """
base = "jia-chen"
[fixed]
max_background_flushes = 1
max_background_compactions = 2
level0_file_num_compaction_trigger = 4
[knobs.max_write_buffer_number]
choices = [2, 4]
"""


def test_an_engine_without_models_is_refused() -> None:
    request = make_request(
        {"workload": "ycsb-a", "engine": "command", "command": {"run": ["x", "{options_file}"]}}
    )
    with pytest.raises(UserError, match="engine: 'command' has no models of several sizes"):
        resolve_scale_check(request, "c", 20)


def test_a_space_with_too_few_configurations_is_refused(tmp_path: Any, ledger: Ledger) -> None:
    space = tmp_path / "small.toml"
    space.write_text(SMALL_SPACE)
    spec = spec_of(30, space=str(space), workload="zipfian")
    with pytest.raises(UserError, match="configurations: 30 is more than the 24 configurations"):
        run_scale_check(spec, TwoModels(by_buffer, by_buffer), ledger)
