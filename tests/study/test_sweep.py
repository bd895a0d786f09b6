from pathlib import Path
from typing import Any

import pytest

from rocktune.errors import UserError
from rocktune.ledger import Ledger
from rocktune.study import SweepSpec, make_request, resolve_sweep, run_sweep, runs_of, space_of, table_of
from rocktune.study.executors import LocalExecutor
from rocktune.study.measuring.disturbance import PLACED
from rocktune.study.measuring.observer import Observer
from rocktune.study.specs.sweeping import HowToSweep
from rocktune.testing.dying import Died
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Configuration, Status, Trial
from rocktune.tuners.hand import hand_set

SMALL_SPACE = """
base = "jia-chen"
[fixed]
max_background_flushes = 1
max_background_compactions = 2
level0_file_num_compaction_trigger = 4
[knobs.max_write_buffer_number]
choices = [2, 4]
"""


class Watching(Observer):
    def __init__(self, dies_after: int | None = None) -> None:
        self.shown: list[tuple[int, int]] = []
        self.left_s: list[float] = []
        self._dies_after = dies_after

    def trial_started(self, trial: Trial, index: int, of: int) -> None:
        if len(self.shown) == self._dies_after:
            raise Died
        self.shown.append((index, of))

    def estimated(self, total_s: float) -> None:
        self.left_s.append(total_s)


def speed(configuration: Configuration) -> float:
    return 1000.0 * float(configuration["threads"]) + float(configuration["max_write_buffer_number"])


@pytest.fixture
def space(tmp_path: Path) -> str:
    path = tmp_path / "small.toml"
    path.write_text(SMALL_SPACE)
    return str(path)


def sweep_spec(space: str, samples: int | None = None, **given: Any) -> SweepSpec:
    request = make_request({"workload": "zipfian", "space": space, "scale": "1/64"} | given)
    return resolve_sweep(request, "s", HowToSweep(samples))


def test_every_configuration_is_measured_once_and_the_default_again_and_again(
    space: str, ledger: Ledger
) -> None:
    spec = sweep_spec(space).model_copy(update={"control_every": 10})
    engine = SyntheticEngine(speed)
    table = run_sweep(spec, engine, ledger)
    swept = [row for row in table.rows if row.replicate == 0]
    control = [row for row in table.rows if row.replicate]
    assert len(swept) == len({row.configuration for row in swept}) == 2 * 4 * 3
    assert [row.configuration for row in control] == [space_of(spec).default()] * 3
    assert len({row.figures["throughput_ops_s"] for row in control}) == 3
    assert table.conditions.measured_s == pytest.approx(180 / 64)
    assert table.conditions.warm_up_s == pytest.approx(60 / 64)
    assert engine.advanced_s == pytest.approx(27 * 240 / 64)
    assert not engine.open_runs
    assert [row.configuration for row in swept] != space_of(spec).grid()


def test_a_rows_figures_are_those_after_the_warm_up(space: str, ledger: Ledger) -> None:
    spec = sweep_spec(space, 1)
    run_sweep(spec, SyntheticEngine(speed), ledger)
    records = ledger.trials(ledger.study("s"))
    assert [record.trial.until_s for record in records[:2]] == pytest.approx([60 / 64, 240 / 64])
    assert records[1].window is not None
    assert records[1].window.from_s == pytest.approx(60 / 64)
    row = table_of(ledger, ledger.study("s")).rows[0]
    assert row.figures["throughput_ops_s"] == records[1].window.figures["throughput_ops_s"]


def test_a_sample_is_of_distinct_configurations(space: str) -> None:
    spec = sweep_spec(space, 20)
    drawn = [configuration for configuration, replicate in runs_of(spec, space_of(spec)) if replicate == 0]
    assert len(drawn) == len(set(drawn)) == 20
    with pytest.raises(UserError, match="samples: 25 is more than the 24 configurations"):
        runs_of(sweep_spec(space, 25), space_of(spec))


def test_a_sweep_that_died_goes_on_where_it_was(space: str, ledger: Ledger) -> None:
    spec = sweep_spec(space)
    with pytest.raises(Died):
        run_sweep(spec, SyntheticEngine(speed), ledger, Watching(dies_after=21))
    engine, watching = SyntheticEngine(speed), Watching()
    table = run_sweep(spec, engine, ledger, watching)
    assert engine.advanced_s < 17 * 240 / 64
    assert watching.shown[-1] == (25, 26)
    assert watching.left_s[-1] < watching.left_s[0]
    run_sweep(spec.model_copy(update={"name": "whole"}), SyntheticEngine(speed), ledger)
    assert table.rows == table_of(ledger, ledger.study("whole")).rows


def test_a_failure_is_a_row_without_figures(space: str, ledger: Ledger) -> None:
    def fault(configuration: Configuration, seed: int, until_s: float) -> Status | None:
        return Status.CRASHED if configuration["threads"] == 8 and until_s > 1 else None

    table = run_sweep(sweep_spec(space), SyntheticEngine(speed, fault), ledger)
    failed = [row for row in table.rows if row.status is not Status.OK]
    assert {row.status for row in failed} == {Status.CRASHED}
    assert len(failed) == 6
    assert all(not row.figures for row in failed)


def test_what_cannot_be_swept_is_refused(ledger: Ledger) -> None:
    spec = resolve_sweep(make_request({"workload": "zipfian"}), "s", HowToSweep())
    with pytest.raises(UserError, match=r"space 'dremel' has no grid: [0-9,]+ combinations"):
        runs_of(spec, space_of(spec))
    with pytest.raises(UserError, match="samples: 0 is not above 0"):
        resolve_sweep(make_request({"workload": "zipfian"}), "s", HowToSweep(0))
    with pytest.raises(UserError, match="samples: 100001 is more than 100,000; give fewer"):
        resolve_sweep(make_request({"workload": "zipfian"}), "s", HowToSweep(100_001))
    few = resolve_sweep(make_request({"workload": "zipfian"}), "s", HowToSweep(2, "3/4"))
    with pytest.raises(UserError, match="part: 3/4 has no configuration, because there are only 2"):
        runs_of(few, space_of(few))
    with pytest.raises(UserError, match="is not a valid name"):
        resolve_sweep(make_request({"workload": "zipfian"}), "s\n", HowToSweep(2))
    with pytest.raises(UserError, match="warm-up: 'x' is not a duration"):
        resolve_sweep(make_request({"workload": "zipfian"}), "s", HowToSweep(1, warm_up="x"))
    with pytest.raises(UserError, match="warm-up: engine 'embedded' measures a run as a whole"):
        run_sweep(spec, SyntheticEngine(speed, can_park=False), ledger)


def test_a_steady_sweep_begins_with_all_keys(space: str) -> None:
    def swept(**given: object) -> SweepSpec:
        return resolve_sweep(make_request({"workload": "dremel-write-heavy", **given}), "s", HowToSweep())

    assert swept().workload.preload.keys == 0
    steady = swept(protocol="steady")
    assert steady.workload.preload.keys == steady.workload.keys
    # The default scale is that of steady studies.
    assert (swept().scale, steady.scale) == (32, 64)
    with pytest.raises(UserError, match="protocol: engine 'db_bench' cannot age a store"):
        swept(protocol="steady", engine="db_bench", db_bench="db_bench")
    with pytest.raises(UserError, match="protocol: 'own' is that of engine 'command'"):
        swept(protocol="own")


def test_what_people_set_by_hand_is_measured_too() -> None:
    def swept(hand: bool) -> SweepSpec:
        request = make_request({"workload": "dremel-write-heavy", "space": "full", "protocol": "steady"})
        return resolve_sweep(request, "s", HowToSweep(4, hand=hand))

    def measured(spec: SweepSpec) -> list[Configuration]:
        return [configuration for configuration, replicate in runs_of(spec, space_of(spec)) if replicate == 0]

    by_hand = {each.configuration for each in hand_set(space_of(swept(True)))[1:]}
    assert len(by_hand) == 5
    alone, both = measured(swept(False)), measured(swept(True))
    assert len(both) == len(set(both)) == 9
    assert set(both) == {*alone, *by_hand}
    assert set(both[:5]) != by_hand


def test_parts_have_every_configuration_once(space: str, ledger: Ledger) -> None:
    request = make_request({"workload": "zipfian", "space": space, "scale": "1/64"})
    whole = sweep_spec(space)
    parts = [resolve_sweep(request, f"p{part}", HowToSweep(part=f"{part}/3")) for part in (1, 2, 3)]
    found = [run for spec in parts for run in runs_of(spec, space_of(spec)) if run[1] == 0]
    assert len(found) == len(set(found)) == 24
    assert set(found) == {run for run in runs_of(whole, space_of(whole)) if run[1] == 0}
    for part in ("4/3", "0/3", "1", "x"):
        with pytest.raises(UserError, match=f"part: '{part}' is malformed"):
            resolve_sweep(request, "s", HowToSweep(part=part))


def test_ages_can_be_given(space: str) -> None:
    request = make_request({"workload": "zipfian", "space": space})
    spec = resolve_sweep(request, "s", HowToSweep(1, seconds="1s", warm_up="0"))
    assert (spec.measured_s, spec.warm_up_s) == (1.0, 0.0)


def disturbed_engine(shares: dict[int, float]) -> SyntheticEngine:
    """Returns an engine; others take a share of the processors that depends on the run's number, from 1."""
    return (engine := SyntheticEngine(speed, others_share=lambda: shares.get(len(engine.opened), 0.01)))


def test_a_disturbed_run_is_measured_again_and_the_quietest_counts(space: str, ledger: Ledger) -> None:
    # 24 configurations and two controls; the repeats are runs 27 to 30.
    engine = disturbed_engine({2: 0.5, 4: 0.3, 28: 0.4, 29: 0.6, 30: 0.5})
    watching = Watching()
    table = run_sweep(sweep_spec(space), engine, ledger, watching)
    assert len(engine.opened) == 30
    assert engine.opened[1] == engine.opened[26]
    assert engine.opened[3] == engine.opened[27] == engine.opened[28] == engine.opened[29]
    assert len(table.rows) == 26
    assert {row.replicate for row in table.rows} == {0, 100_000, 100_001}
    shares = [row.figures["others_cpu_share"] for row in table.rows]
    assert [share for share in shares if share > 0.1] == pytest.approx([0.3])
    assert watching.shown[-1][1] == 26
    replayed = SyntheticEngine(speed)
    assert run_sweep(sweep_spec(space), replayed, ledger).rows == table.rows
    assert not replayed.opened


def test_a_sweep_that_died_while_it_repeated_goes_on(space: str, ledger: Ledger) -> None:
    with pytest.raises(Died):
        run_sweep(sweep_spec(space), disturbed_engine({2: 0.5, 4: 0.3}), ledger, Watching(dies_after=54))
    engine = disturbed_engine({})
    table = run_sweep(sweep_spec(space), engine, ledger)
    assert len(engine.opened) == 1
    assert max(row.figures["others_cpu_share"] for row in table.rows) == pytest.approx(0.01)


def test_lanes_that_may_disturb_each_other_repeat_nothing(space: str, ledger: Ledger) -> None:
    engine = disturbed_engine({2: 0.5, 4: 0.3})
    executor = LocalExecutor([engine])
    executor.is_parallel = True
    assert executor.arguments == ""
    run_sweep(sweep_spec(space), executor, ledger)
    assert len(engine.opened) == 26
    placed = ledger.events(ledger.study("s"), PLACED)
    assert {event.payload["machine"] for event in placed} == {"local-1"}
