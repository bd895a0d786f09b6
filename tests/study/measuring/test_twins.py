"""Configurations of which RocksDB makes one store are measured once."""

from collections.abc import Sequence

from rocktune.device import load_device
from rocktune.ledger import Ledger
from rocktune.space import load_space
from rocktune.study.executors import executor_of
from rocktune.study.measuring.evaluation import TWIN
from rocktune.study.measuring.interrupt import Interrupt
from rocktune.study.measuring.loop import Loop, Phase
from rocktune.study.measuring.observer import Observer
from rocktune.testing.synthetic_engine import SyntheticEngine
from rocktune.trial import Batch, Configuration, Experiment, Measurement, Result, Trial
from rocktune.workload import load_workload

SPEC = {"tuner": "fake"}
EXPERIMENT = Experiment(load_workload("zipfian"), load_device("none"), 64, load_space("jia-chen", None, 1e8))
TINY, SMALL, LARGE = (Configuration({"write_buffer_bytes": size}) for size in (1, 60, 100))
SMALLEST = 64


def _opened_as(configuration: Configuration) -> Configuration:
    return Configuration({"write_buffer_bytes": max(SMALLEST, int(configuration["write_buffer_bytes"]))})


def _engine(**settings: object) -> SyntheticEngine:
    return SyntheticEngine(lambda _: 1000.0, opened_as=_opened_as, **settings)  # type: ignore[arg-type]


def _searched(
    ledger: Ledger, engine: SyntheticEngine, *batches: Batch, measures_twins: bool = False
) -> list[Sequence[Result]]:
    def phase() -> Phase[list[Sequence[Result]]]:
        results: list[Sequence[Result]] = []
        for batch in batches:
            answer = yield batch
            results.append(answer)
        return results

    def opening(configuration: Configuration, replicate: int) -> tuple[Experiment, Configuration, int]:
        return EXPERIMENT, configuration, replicate

    def score(window: Measurement) -> float:
        return window.figures["throughput_ops_s"]

    study = ledger.create_study("study", SPEC)
    interrupt = Interrupt(lambda: None)
    loop = Loop(executor_of(engine, 1 << 40), opening, score, ledger, study, Observer(), interrupt)
    return loop.run("search", phase(), True, measures_twins=measures_twins)


def _twins(ledger: Ledger) -> list[tuple[int, int, int, int]]:
    events = [event.payload for event in ledger.events(ledger.study("study"), TWIN)]
    return [(each["batch"], each["index"], each["of_batch"], each["of_index"]) for each in events]


def test_a_twin_takes_the_figures_of_the_first_and_costs_nothing(ledger: Ledger) -> None:
    engine = _engine()
    batches = Batch((Trial(LARGE, 2.0), Trial(TINY, 2.0))), Batch((Trial(SMALL, 2.0),))
    (_, first), (twin,) = _searched(ledger, engine, *batches)
    assert twin.measurement == first.measurement
    assert _twins(ledger) == [(1, 0, 0, 1)]
    # Two runs of 2 s.
    assert (engine.advanced_s, ledger.spent_s(ledger.study("study"), "search")) == (4, 4)
    assert not [run for run in engine.open_runs if run.options["cf"]["write_buffer_bytes"] == "60"]


def test_trials_of_one_batch_other_replicates_and_other_ages_are_no_twins(ledger: Ledger) -> None:
    engine = _engine()
    batches = (
        Batch((Trial(TINY, 2.0), Trial(SMALL, 2.0))),
        Batch((Trial(Configuration({"write_buffer_bytes": 7}), 3.0),)),
        Batch((Trial(Configuration({"write_buffer_bytes": 8}), 2.0, replicate=1),)),
    )
    _searched(ledger, engine, *batches)
    assert (_twins(ledger), engine.advanced_s) == ([], 9)


def test_what_was_interrupted_knows_its_stores_again(ledger: Ledger) -> None:
    first, second = Batch((Trial(TINY, 2.0),)), Batch((Trial(SMALL, 2.0),))
    _searched(ledger, _engine(), first)
    engine = _engine()
    _searched(ledger, engine, first, second)
    assert (engine.advanced_s, _twins(ledger)) == (0, [(1, 0, 0, 0)])


def test_a_twins_run_goes_on_by_itself(ledger: Ledger) -> None:
    engine = _engine(shared_noise=0, own_noise=0)
    batches = Batch((Trial(TINY, 2.0),)), Batch((Trial(SMALL, 2.0),)), Batch((Trial(SMALL, 3.0),))
    _, _, (older,) = _searched(ledger, engine, *batches)
    assert older.measurement is not None
    assert (older.measurement.from_s, older.measurement.until_s) == (0, 3)
    # 2 s, then 2 s repeated and 1 s more; the budget pays 2 s and 1 s.
    assert (engine.advanced_s, ledger.spent_s(ledger.study("study"), "search")) == (5, 3)


def test_where_twins_are_measured_all_are(ledger: Ledger) -> None:
    engine = _engine()
    _searched(ledger, engine, Batch((Trial(TINY, 2.0),)), Batch((Trial(SMALL, 2.0),)), measures_twins=True)
    assert (_twins(ledger), engine.advanced_s) == ([], 4)


def test_an_engine_that_does_not_read_options_back_measures_all(ledger: Ledger) -> None:
    engine = SyntheticEngine(lambda _: 1000.0)
    _searched(ledger, engine, Batch((Trial(TINY, 2.0),)), Batch((Trial(SMALL, 2.0),)))
    assert (_twins(ledger), engine.advanced_s) == ([], 4)
