"""Conformance suite that each space must pass.

A test file for a new preset needs only a fixture:

    class TestMySpace(SpaceConformance):
        @pytest.fixture
        def space(self) -> Space: return my_space(memory_bytes, expected_entries)
"""

import pickle

import numpy as np
import pytest

from rocktune.errors import UserError
from rocktune.space import CATALOGUE, Configuration, Space, scaled_options
from rocktune.space.knob import Knob

_COUNT = 200


def _size(options: dict[str, dict[str, str]], knob: Knob) -> int:
    """Returns the value of a size option."""
    return int(options[knob.section][knob.option_name])


class SpaceConformance:
    """Tests of a space. Subclasses have a fixture `space`."""

    @pytest.fixture
    def sample(self, space: Space) -> list[Configuration]:
        """Returns configurations that are drawn with a fixed seed."""
        return space.sample(_COUNT, np.random.default_rng(1))

    def test_every_sample_is_valid(self, space: Space, sample: list[Configuration]) -> None:
        """Drawn configurations keep bounds and rules."""
        assert len(sample) == _COUNT
        for configuration in sample:
            space.validate(configuration)
            assert space.broken_rules(configuration) == []

    def test_sampling_depends_on_the_generator_alone(self, space: Space, sample: list[Configuration]) -> None:
        """Equal seeds give equal configurations, different seeds different ones."""
        assert space.sample(_COUNT, np.random.default_rng(1)) == sample
        assert space.sample(_COUNT, np.random.default_rng(2)) != sample

    def test_fewer_samples_are_a_prefix_of_more(self, space: Space, sample: list[Configuration]) -> None:
        """The number of samples does not change the first ones."""
        assert space.sample(_COUNT // 3, np.random.default_rng(1)) == sample[: _COUNT // 3]
        assert space.sample(0, np.random.default_rng(1)) == []

    def test_default_is_valid(self, space: Space) -> None:
        """The space's default is a valid configuration."""
        space.validate(space.default())

    def test_values_are_plain_python_and_keys_are_stable(self, sample: list[Configuration]) -> None:
        """Values are no NumPy numbers, and the order of knobs does not change a key."""
        for configuration in sample:
            assert {type(value) for value in configuration.values()} <= {int, float, str, bool}
            assert Configuration(dict(reversed(list(configuration.items())))).key == configuration.key

    def test_vectorised_check_agrees_with_the_single_one(self, space: Space) -> None:
        """Sampling and validation agree on which configurations are valid."""
        rng = np.random.default_rng(3)
        columns = {knob.name: knob.sample(_COUNT, rng) for knob in space.knobs}
        single = [
            not space.broken_rules(space.activated({name: columns[name][row].item() for name in columns}))
            for row in range(_COUNT)
        ]
        assert space.valid(columns).tolist() == single

    def test_options_hold_every_knob_and_the_fixed_options(
        self, space: Space, sample: list[Configuration]
    ) -> None:
        """Options are text from which the configuration can be read back, and keep the pinned options."""
        for configuration in sample[:20]:
            options = space.options(configuration)
            assert set(options) == {"db", "cf", "table"} | {knob.section for knob in space.knobs} | set(
                space.fixed_options
            )
            assert all(isinstance(text, str) and text for maps in options.values() for text in maps.values())
            assert space.configuration_from_options(options) == configuration
            for section, fixed in space.fixed_options.items():
                knobs = {knob.option_name for knob in space.knobs if knob.section == section}
                assert {name: options[section][name] for name in fixed if name not in knobs}.items() <= (
                    fixed.items()
                )

    def test_memory_adds_up_to_the_budget(self, space: Space, sample: list[Configuration]) -> None:
        """Memtables, filters and block cache use the whole budget but one byte."""
        for configuration in sample[:20]:
            options = space.options(configuration)
            columns = {name: column[0] for name, column in space.columns([configuration]).items()}
            memtables = filters = 0.0
            for prefix, part in space.budget.parts():
                buffers, size = (
                    columns[prefix + name] for name in ("max_write_buffer_number", "write_buffer_size")
                )
                memtables += buffers * size
                bits = columns[prefix + space.budget.filter_bits]
                filters += 0 if space.budget.filters_in_cache else float(part.filter_bytes(bits))
            used = _size(options, CATALOGUE["block_cache"]) + memtables + filters
            assert space.memory_bytes - 1 <= used <= space.memory_bytes

    def test_scaling_shrinks_and_keeps_order(self, space: Space, sample: list[Configuration]) -> None:
        """A larger scale never gives a larger size, and scale 1 changes nothing."""
        scales = (1, 2, 16, 64, 512)
        for configuration in sample[:20]:
            options = space.options(configuration)
            assert scaled_options(options, 1) == options
            models = [scaled_options(options, scale) for scale in scales]
            active = [knob for knob in space.knobs if knob.name in configuration]
            for knob in (*active, CATALOGUE["block_cache"]):
                if knob.scaled:
                    sizes = [_size(model, knob) for model in models]
                    assert sizes == sorted(sizes, reverse=True)
                    assert sizes[-1] >= min(knob.scaled_floor, sizes[0])  # 0 stays 0
                else:
                    assert len({model[knob.section][knob.option_name] for model in models}) == 1

    def test_columns_have_what_formulas_need(self, space: Space, sample: list[Configuration]) -> None:
        """The arrays for formulas hold the configurations' values and the constants of the catalogue."""
        columns = space.columns(sample)
        assert set(columns) >= set(CATALOGUE)
        assert {len(column) for column in columns.values()} == {_COUNT}
        for knob in space.knobs:
            for value, configuration in zip(columns[knob.name].tolist(), sample, strict=True):
                assert value == configuration.get(knob.name, value)

    def test_inactive_knobs_are_absent_and_refused(self, space: Space, sample: list[Configuration]) -> None:
        """A configuration holds active knobs only; its error names the condition in one line."""
        for configuration in sample[:20]:
            assert space.activated(configuration) == configuration
            active = {knob.name for knob in space.knobs if knob.is_active(configuration)}
            assert set(configuration) == active
            for knob in space.knobs:
                if knob.name not in active:
                    with pytest.raises(UserError, match="has an effect only if") as refusal:
                        space.validate(configuration.replaced({knob.name: knob.default}))
                    assert "\n" not in str(refusal.value)

    def test_wrong_configurations_are_refused_in_one_line(self, space: Space) -> None:
        """Each error names the option in one line."""
        knob = space.knobs[0]
        beyond = "no such choice" if knob.choices else knob.high + 1
        without = {name: value for name, value in space.default().items() if name != knob.name}
        for wrong, named in (
            (space.default().replaced({knob.name: beyond}), knob.name),
            (space.default().replaced({knob.name + "x": 1}), f"did you mean '{knob.name}'"),
            (Configuration(without), knob.name),
        ):
            with pytest.raises(UserError) as refusal:
                space.validate(wrong)
            assert named in str(refusal.value)
            assert "\n" not in str(refusal.value)

    def test_space_travels_between_processes(self, space: Space, sample: list[Configuration]) -> None:
        """A pickled and unpickled space equals the original and draws the same samples."""
        there = pickle.loads(pickle.dumps(space))
        assert there == space
        assert there.sample(_COUNT, np.random.default_rng(1)) == sample
