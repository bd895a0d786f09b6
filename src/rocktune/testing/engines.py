"""Conformance suite that each engine must pass.

A test file for a new engine needs only a fixture:

    class TestMyEngine(EngineConformance):
        @pytest.fixture
        def engine(self) -> Iterator[Engine]: ...      # closed after each test
"""

from dataclasses import replace
from typing import Any

import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import Engine, RunFailed
from rocktune.space import load_space
from rocktune.trial import Configuration, Experiment, Measurement, Status
from rocktune.units import MIB
from rocktune.workload import WorkloadSpec

# At scale 1/16, 100 operations in the first tenth of a second and then none: every machine completes them
# all.
_BURST = {"kind": "bursts", "operations_s": 1000.0, "on_s": 1.6, "period_s": 16_000.0}
_BURST_SEEN_S = 1.5


def small_experiment(preloaded_keys: int = 0, arrival: dict[str, Any] | None = None) -> Experiment:
    """Returns an experiment that every machine can run: at most 4,000 small entries, no throttle, scale 1/16.

    Args:
        preloaded_keys: keys that are preloaded, at full size.
        arrival: the session's arrival as in a workload file; a closed loop by default.
    """
    workload = {
        "name": "small",
        "keys": 64_000,
        "threads": 2,
        "value": {"kind": "uniform", "low": 50, "high": 150},
        "preload": {"keys": preloaded_keys},
        "sessions": [
            {
                "mix": {"get": 0.4, "put": 0.4, "read_modify_write": 0.2},
                "arrival": arrival or {"kind": "closed"},
            }
        ],
    }
    return Experiment(
        workload=WorkloadSpec.model_validate(workload),
        device=DeviceSpec(name="none"),
        scale=16,
        space=load_space("dremel", 1000 * MIB, expected_entries=64_000),
    )


def require_operations(measurement: Measurement) -> None:
    """Skips a test if the engine measures figures alone and does not count operations."""
    if "operations" not in measurement.raw:
        pytest.skip("the engine measures figures alone, no operations")


class EngineConformance:
    """Tests of an engine.

    Subclasses have a fixture `engine`. Windows are short, because real engines wait.
    """

    @pytest.fixture
    def experiment(self) -> Experiment:
        """Returns the experiment of the tests; override it for an engine that cannot measure this one."""
        return small_experiment()

    @pytest.fixture
    def configuration(self, experiment: Experiment) -> Configuration:
        """Returns the space's default."""
        return experiment.space.default()

    def test_it_says_what_it_measures(self, engine: Engine) -> None:
        """The version, the file system and the ability to park are known."""
        assert engine.version
        assert isinstance(engine.file_system, str)
        assert isinstance(engine.can_park, bool)

    def test_windows_follow_each_other(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """Each window begins where the one before ended, also after parking, and windows can be merged."""
        if not engine.can_park:
            pytest.skip("a run of this engine has one window")
        run = engine.open(experiment, configuration, seed=1)
        windows = [run.advance(0.2)]
        assert run.park() > 0
        windows += [run.advance(0.3), run.advance(0.5)]
        run.close()
        assert [(window.from_s, window.until_s) for window in windows] == [(0.0, 0.2), (0.2, 0.3), (0.3, 0.5)]
        assert all(window.operations() > 0 for window in windows)
        merged = windows[0].merged(windows[1]).merged(windows[2])
        assert merged.operations() == sum(window.operations() for window in windows)
        assert merged.figures["throughput_ops_s"] == pytest.approx(merged.operations() / 0.5)

    def test_a_window_begins_at_age_0(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """The first window begins at age 0. A run that cannot park has no second one."""
        run = engine.open(experiment, configuration, seed=1)
        window = run.advance(0.5)
        assert (window.from_s, window.until_s) == (0.0, 0.5)
        assert window.figures["throughput_ops_s"] > 0
        if not engine.can_park:
            with pytest.raises(ValueError, match="advance"):
                run.advance(1.0)
        run.close()

    def test_ages_only_grow(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """An age that is not larger raises ValueError and does not harm the run."""
        run = engine.open(experiment, configuration, seed=1)
        age_s = 0.0
        if engine.can_park:
            age_s = run.advance(0.2).until_s
        for refused_s in (age_s, age_s / 2, 0.0, -1.0):
            with pytest.raises(ValueError, match="advance"):
                run.advance(refused_s)
        assert run.advance(0.3).from_s == age_s
        run.close()

    def test_progress_is_told(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """Progress is reported with known phases and never exceeds the total."""
        seen: list[tuple[str, float, float]] = []
        run = engine.open(experiment, configuration, 1, lambda *progress: seen.append(progress))
        run.advance(1.2, lambda *progress: seen.append(progress))
        run.close()
        assert "advance" in {phase for phase, _, _ in seen}
        assert {phase for phase, _, _ in seen} <= {"load", "settle", "advance"}
        assert all(0 <= done <= total for phase, done, total in seen if phase != "settle")

    def test_runs_are_apart(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """Two open runs of the same configuration do not affect each other."""
        first, second = (engine.open(experiment, configuration, seed=seed) for seed in (1, 2))
        assert first.advance(0.2).from_s == 0.0
        assert second.advance(0.1).from_s == 0.0
        first.close()
        if engine.can_park:
            assert second.advance(0.2).from_s == 0.1
        second.close()

    def test_a_closed_run_is_over(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """Closing is idempotent; advancing a closed run raises ValueError."""
        run = engine.open(experiment, configuration, seed=1)
        run.close()
        run.close()
        with pytest.raises(ValueError, match="closed"):
            run.advance(1.0)
        assert engine.loading_s == 0

    def test_an_engine_closes_its_runs(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """Closing an engine closes its open runs, and closing it twice does no harm."""
        run = engine.open(experiment, configuration, seed=1)
        engine.close()
        engine.close()
        with pytest.raises(ValueError, match="closed"):
            run.advance(1.0)
        run.close()


class StoreEngineConformance(EngineConformance):
    """Further tests of an engine that opens a RocksDB store. Subclasses have a fixture `engine`."""

    def test_opening_takes_time(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """The time for opening a run is counted."""
        engine.open(experiment, configuration, seed=1).close()
        assert engine.opening_s > 0

    def test_checked_options_hold_the_configuration(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """Checked options are those of the configuration at full size, whatever the scale."""
        options = engine.check(experiment, configuration)
        assert int(options["cf"]["num_levels"]) == configuration["num_levels"]
        assert int(options["cf"]["write_buffer_size"]) == configuration["write_buffer_size"]

    def test_refused_options_are_invalid(self, engine: Engine, experiment: Experiment) -> None:
        """Refused options fail `check` and `open` as `invalid` with one line, and the engine stays usable."""
        bare = Configuration({})
        refused = replace(experiment, base_options={"cf": {"write_buffer_size": "0x10"}})
        asking = (lambda: engine.check(refused, bare), lambda: engine.open(refused, bare, seed=1))
        for ask in asking:
            with pytest.raises(RunFailed) as failure:
                ask()
            assert failure.value.status is Status.INVALID
            assert failure.value.message
            assert "\n" not in failure.value.message
        assert engine.check(experiment, bare)

    def test_bare_defaults_are_the_engines_own(self, engine: Engine, experiment: Experiment) -> None:
        """The empty configuration stands for RocksDB's bare defaults, which are scaled like any other."""
        bare = engine.check(experiment, Configuration({}))
        assert int(bare["cf"]["write_buffer_size"]) == 64 * MIB
        run = engine.open(experiment, Configuration({}), seed=1)
        assert int(run.options["cf"]["write_buffer_size"]) == 64 * MIB // experiment.scale
        assert run.advance(0.1).figures["throughput_ops_s"] > 0
        run.close()

    def test_the_users_own_options_as_they_stand(
        self, engine: Engine, experiment: Experiment, configuration: Configuration
    ) -> None:
        """The empty configuration stands for the user's file. Knobs override the file's options."""
        own = replace(experiment, base_options={"cf": {"write_buffer_size": "16777216", "num_levels": "4"}})
        options = engine.check(own, Configuration({}))["cf"]
        assert (options["write_buffer_size"], options["num_levels"]) == ("16777216", "4")
        over = engine.check(own, configuration)["cf"]
        assert int(over["write_buffer_size"]) == configuration["write_buffer_size"]

    def test_the_same_seed_gives_the_same_operations(
        self, engine: Engine, configuration: Configuration
    ) -> None:
        """Equal seeds give equal counts by kind and equal bytes; another seed gives different bytes."""
        experiment = small_experiment(arrival=_BURST)
        counts = []
        for seed in (7, 7, 8):
            run = engine.open(experiment, configuration, seed)
            window = run.advance(_BURST_SEEN_S)
            run.close()
            require_operations(window)
            raw = window.raw
            kinds = {kind: figures["count"] for kind, figures in raw["operations"].items()}
            counts.append((kinds, raw["user_bytes_written"]))
        assert counts[0] == counts[1]
        assert counts[0][1] != counts[2][1]

    def test_a_preloaded_run_begins_with_its_keys(self, engine: Engine, configuration: Configuration) -> None:
        """A preloaded run finds its keys. Equal bases are loaded once, and loading is counted separately."""
        experiment = small_experiment(preloaded_keys=64_000)
        found, loading_s = [], []
        for seed in (1, 2):
            run = engine.open(experiment, configuration, seed)
            window = run.advance(0.2)
            run.close()
            require_operations(window)
            get = window.raw["operations"]["get"]
            found.append(get["found"] == get["count"] > 0)
            loading_s.append(engine.loading_s)
            assert window.raw["live_keys"] >= 4_000
        assert found == [True, True]
        if loading_s[0] > 0:
            assert loading_s[1] == loading_s[0]
            engine.open(replace(experiment, base_seed=1), configuration, 1).close()
            assert engine.loading_s > loading_s[0]
