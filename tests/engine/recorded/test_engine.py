import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rocktune.device import load_device
from rocktune.engine import RecordedEngine, RecordedSpec, RunFailed, table_digest
from rocktune.engine.recorded.interpolation import Interpolation
from rocktune.errors import UserError
from rocktune.space import load_space
from rocktune.table import Conditions, Table, TableRow, knob_types, write_table
from rocktune.testing.engines import EngineConformance
from rocktune.trial import FIGURES, Configuration, Experiment, Status
from rocktune.workload import load_workload

SPACE = load_space("jia-chen", None, 1e8)
EXPERIMENT = Experiment(load_workload("zipfian"), load_device("sata"), 64, SPACE)
DEFAULT = SPACE.default()
NOISE = 0.02


def throughput(configuration: Configuration) -> float:
    threads, buffers = float(configuration["threads"]), float(configuration["max_write_buffer_number"])
    return 1000 * float(threads**0.7) * (1 + 0.2 * math.log2(buffers)) / (1 + 0.02 * threads * buffers)


def row(configuration: Configuration, replicate: int = 0, factor: float = 1.0) -> TableRow:
    speed = throughput(configuration) * factor
    known = {"throughput_ops_s": speed, "read_latency_us_p99": 1e6 / speed, "write_amplification": 3.0}
    return TableRow(configuration, replicate, Status.OK, "", dict.fromkeys(FIGURES, math.nan) | known)


def table_of(rows: list[TableRow], measured_on: str) -> Table:
    conditions = Conditions(
        knobs=knob_types(each.configuration for each in rows),
        workload=EXPERIMENT.workload,
        device=EXPERIMENT.device,
        space={"name": "jia-chen"},
        memory_bytes=SPACE.memory_bytes,
        scale=64,
        seed=1,
        measured_s=2.8125,
        engine=measured_on,
    )
    return Table(conditions, tuple(rows))


def sampled(count: int, noise: float = 0.0) -> list[TableRow]:
    rng = np.random.default_rng(5)
    rows = [
        row(each, factor=math.exp(rng.normal(0, noise)))
        for each in dict.fromkeys(SPACE.sample(count, np.random.default_rng(3)))
    ]
    return rows + [row(DEFAULT, replicate, math.exp(rng.normal(0, noise))) for replicate in range(1, 41)]


MakeEngine = Callable[..., RecordedEngine]


@pytest.fixture
def make_engine(tmp_path: Path) -> MakeEngine:
    def make(
        rows: list[TableRow],
        interpolate: bool = False,
        figures: tuple[str, ...] = (),
        measured_on: str = "RocksDB 7.8.3, assertions on",
    ) -> RecordedEngine:
        path = tmp_path / "t.csv"
        write_table(path, table_of(rows, measured_on))
        spec = RecordedSpec(
            table=str(path), digest=table_digest(path), interpolate=interpolate, run_seconds=2.8125
        )
        return RecordedEngine(spec, figures)

    return make


def measured(engine: RecordedEngine, configuration: Configuration, seed: int = 1) -> dict[str, float]:
    return engine.open(EXPERIMENT, configuration, seed).advance(2.8125).figures


class TestConformance(EngineConformance):
    @pytest.fixture
    def engine(self, make_engine: MakeEngine) -> RecordedEngine:
        return make_engine([row(DEFAULT)])

    @pytest.fixture
    def experiment(self) -> Experiment:
        return EXPERIMENT


class TestInterpolatedConformance(TestConformance):
    @pytest.fixture
    def engine(self, make_engine: MakeEngine) -> RecordedEngine:
        return make_engine(sampled(60), interpolate=True)


def test_a_row_is_replayed_to_the_bit(make_engine: MakeEngine) -> None:
    rows = sampled(30)[:30]
    engine = make_engine(rows)
    for each in rows:
        for seed in (1, 2):
            figures = measured(engine, each.configuration, seed)
            assert figures["throughput_ops_s"] == each.figures["throughput_ops_s"]
            assert math.isnan(figures["db_bytes"])
    assert engine.version == "recorded, RocksDB 7.8.3, assertions on"
    assert engine.opening_s == engine.loading_s == 0


def test_of_several_runs_the_seed_chooses(make_engine: MakeEngine) -> None:
    engine = make_engine([row(DEFAULT, replicate, 1 + replicate) for replicate in range(3)])
    found = {measured(engine, DEFAULT, seed)["throughput_ops_s"] for seed in range(6)}
    assert found == {throughput(DEFAULT) * factor for factor in (1, 2, 3)}


def test_what_is_not_in_the_table_is_invalid_and_what_failed_fails_again(make_engine: MakeEngine) -> None:
    crashed = DEFAULT.replaced({"threads": 8})
    engine = make_engine([row(DEFAULT), TableRow(crashed, 0, Status.CRASHED, "signal 6")])
    for configuration, status, message in (
        (DEFAULT.replaced({"threads": 4}), Status.INVALID, "the table has no run of this configuration"),
        (Configuration({}), Status.INVALID, "the table has no run of this configuration"),
        (crashed, Status.CRASHED, "signal 6"),
    ):
        with pytest.raises(RunFailed, match=message) as failure:
            measured(engine, configuration)
        assert failure.value.status is status


def test_the_users_own_options_are_the_row_that_they_stand_for(make_engine: MakeEngine) -> None:
    own = replace(EXPERIMENT, base_options=SPACE.options(DEFAULT))
    engine = make_engine([row(DEFAULT.replaced({"threads": 1}))])
    run = engine.open(own, Configuration({}), seed=1)
    assert run.advance(1.0).figures["throughput_ops_s"] == throughput(DEFAULT.replaced({"threads": 1}))


def test_a_table_that_has_changed_is_refused(make_engine: MakeEngine, tmp_path: Path) -> None:
    make_engine([row(DEFAULT)])
    path = tmp_path / "t.csv"
    spec = RecordedSpec(table=str(path), digest=table_digest(path), run_seconds=1.0)
    path.write_text(path.read_text() + "\n")
    with pytest.raises(UserError, match="has changed since the study began"):
        RecordedEngine(spec)
    path.unlink()
    with pytest.raises(UserError, match="cannot be read: No such file"):
        RecordedEngine(spec)


def test_a_table_without_what_is_asked_for_is_refused(make_engine: MakeEngine) -> None:
    with pytest.raises(UserError, match="no run has the figure 'db_bytes'"):
        make_engine([row(DEFAULT)], figures=("db_bytes",))
    with pytest.raises(UserError, match="has no run with status 'ok'"):
        make_engine([TableRow(DEFAULT, 0, Status.CRASHED, "signal 6")])
    with pytest.raises(UserError, match="engine: 'synthetic' names no version of RocksDB"):
        make_engine([row(DEFAULT)], measured_on="synthetic")
    with pytest.raises(UserError, match="1 runs are too few to interpolate; at least 20 are needed"):
        make_engine([row(DEFAULT)], interpolate=True)


def test_an_interpolation_states_its_error_and_keeps_to_it(make_engine: MakeEngine) -> None:
    known = sampled(300)
    engine = make_engine(known, interpolate=True, figures=("throughput_ops_s",))
    assert engine.version.startswith("interpolated (throughput_ops_s ±")
    assert engine.version.endswith("), RocksDB 7.8.3, assertions on")
    stated = float(engine.version.partition("±")[2].partition("%")[0]) / 100
    new = [each for each in SPACE.sample(100, np.random.default_rng(8)) if row(each) not in known]
    errors = [math.log(measured(engine, each)["throughput_ops_s"] / throughput(each)) for each in new]
    assert 0 < stated < 0.1
    assert float(np.sqrt(np.mean(np.square(errors)))) < 2 * stated


def test_an_interpolation_goes_beyond_its_rows(make_engine: MakeEngine) -> None:
    """The figure is a product of two knobs' powers, and no row has both of them high."""

    def product(configuration: Configuration) -> float:
        return float(configuration["threads"]) * float(configuration["max_write_buffer_number"])

    drawn = [each for each in SPACE.sample(300, np.random.default_rng(3)) if product(each) <= 64]
    rows = [row(each, factor=product(each) / throughput(each)) for each in dict.fromkeys(drawn)]
    best = max(SPACE.sample(300, np.random.default_rng(4)), key=product)
    engine = make_engine(rows, interpolate=True)
    assert measured(engine, best)["throughput_ops_s"] == pytest.approx(product(best), rel=0.1)
    assert product(best) > 64


def test_an_interpolation_has_the_tables_noise(make_engine: MakeEngine) -> None:
    engine = make_engine(sampled(200, NOISE), interpolate=True)
    figures = [measured(engine, DEFAULT, seed) for seed in range(300)]
    speeds = np.log([each["throughput_ops_s"] for each in figures])
    latencies = np.log([each["read_latency_us_p99"] for each in figures])
    assert speeds.std() == pytest.approx(NOISE, rel=0.35)
    assert np.corrcoef(speeds, latencies)[0, 1] < -0.99
    assert measured(engine, DEFAULT, 7) == pytest.approx(measured(engine, DEFAULT, 7), nan_ok=True)


def test_without_repeated_runs_an_interpolation_has_no_noise(make_engine: MakeEngine) -> None:
    engine = make_engine(sampled(100)[:90], interpolate=True)
    assert (
        measured(engine, DEFAULT, 1)["throughput_ops_s"] == measured(engine, DEFAULT, 2)["throughput_ops_s"]
    )


def test_near_what_failed_an_interpolation_fails(make_engine: MakeEngine) -> None:
    rows = [
        TableRow(each.configuration, 0, Status.OUT_OF_MEMORY, "")
        if each.configuration["threads"] == 8
        else each
        for each in sampled(200)
    ]
    engine = make_engine(rows, interpolate=True)
    with pytest.raises(RunFailed) as failure:
        measured(engine, DEFAULT.replaced({"threads": 8}))
    assert failure.value.status is Status.OUT_OF_MEMORY
    assert measured(engine, DEFAULT)["throughput_ops_s"] > 0


def with_compactions(count: int, noise: float = 0.0) -> list[TableRow]:
    """Returns runs in which level 0 is compacted only with fewer than 8 write buffers."""
    rng = np.random.default_rng(6)
    return [
        replace(
            each,
            figures={
                **each.figures,
                "read_block_get_us_p99": 10.0 * float(each.configuration["threads"]),
                "level0_to_level1_us_p99": compaction_us(each.configuration) * math.exp(rng.normal(0, noise)),
            },
        )
        for each in sampled(count)
    ]


def compaction_us(configuration: Configuration) -> float:
    buffers = float(configuration["max_write_buffer_number"])
    return 1000 * buffers if buffers < 8 else math.nan


def test_what_tuners_learn_from_is_interpolated_where_runs_have_it(make_engine: MakeEngine) -> None:
    engine = make_engine(with_compactions(300), interpolate=True)
    errors, right, configurations = [], 0, SPACE.sample(60, np.random.default_rng(8))
    for each in configurations:
        figures = measured(engine, each)
        errors.append(math.log(figures["read_block_get_us_p99"] / (10 * float(each["threads"]))))
        true, found = compaction_us(each), figures["level0_to_level1_us_p99"]
        right += math.isnan(found) if math.isnan(true) else 0.8 < found / true < 1.25
    assert float(np.sqrt(np.mean(np.square(errors)))) < 0.1
    assert right > 0.9 * len(configurations)


def test_what_too_few_runs_have_is_missing_everywhere(make_engine: MakeEngine) -> None:
    rows = [each for each in with_compactions(300) if math.isnan(each.figures["level0_to_level1_us_p99"])]
    engine = make_engine(rows, interpolate=True)
    figures = measured(engine, rows[0].configuration)
    assert math.isnan(figures["level0_to_level1_us_p99"])
    assert figures["read_block_get_us_p99"] > 0


def test_figures_that_some_runs_lack_have_the_tables_noise_and_leave_that_of_others(
    make_engine: MakeEngine,
) -> None:
    engine, plain = (
        make_engine(rows, interpolate=True) for rows in (with_compactions(200, NOISE), sampled(200))
    )
    figures = [measured(engine, DEFAULT, seed) for seed in range(300)]
    logs = np.log([each["level0_to_level1_us_p99"] for each in figures])
    assert logs.std() == pytest.approx(NOISE, rel=0.35)
    assert figures[7]["throughput_ops_s"] == measured(plain, DEFAULT, 7)["throughput_ops_s"]


def test_an_expected_figure_has_no_noise() -> None:
    model = Interpolation(table_of(sampled(200, NOISE), "RocksDB 7.8.3"))
    drawn = [model.figures(DEFAULT, seed)["throughput_ops_s"] for seed in range(400)]
    assert float(np.mean(np.log(drawn))) == pytest.approx(
        math.log(model.expected(DEFAULT)["throughput_ops_s"]), abs=5 * NOISE / 20
    )
