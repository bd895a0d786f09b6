"""Configurations as points of the unit cube, for tuners that work on real numbers."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rocktune.space import Configuration, Knob, Space, Value

Points = NDArray[np.float64]


class UnitCube:
    """The unit cube of a space. A point has a coordinate in [0, 1] for each knob, in the knobs' order.

    The interval of a knob with k values is divided into k cells of equal width, in the order of its range or
    choices. A coordinate means the value of its cell. A knob for real numbers has no cells. The coordinates
    of a knob with a logarithmic scale follow that scale.

    The coordinates of inactive knobs mean nothing. `point` puts them where their knobs' defaults are, so that
    equal configurations have equal points and a model does not learn from them.
    """

    def __init__(self, space: Space) -> None:
        """Makes the cube of a space."""
        self._axes = tuple(_Axis(knob) for knob in space.knobs)
        self._space = space

    @property
    def dimensions(self) -> int:
        """The number of coordinates of a point: the number of knobs."""
        return len(self._axes)

    @cached_property
    def discrete(self) -> NDArray[np.bool_]:
        """Whether each coordinate has cells, shape (dimensions,)."""
        return np.array([axis.values > 0 for axis in self._axes])

    def configuration(self, point: Points) -> Configuration:
        """Returns the configuration of a point, which holds the active knobs only; it may break a rule."""
        return self._space.activated(
            {
                axis.knob.name: axis.value(float(coordinate))
                for axis, coordinate in zip(self._axes, point, strict=True)
            }
        )

    def point(self, configuration: Configuration) -> Points:
        """Returns the centre of a configuration's cells; values out of bounds count as the nearest bound."""
        return np.array(
            [axis.coordinate(configuration.get(axis.knob.name, axis.knob.default)) for axis in self._axes]
        )

    def active(self, configuration: Configuration) -> NDArray[np.bool_]:
        """Returns whether each coordinate means a value of a configuration, shape (dimensions,)."""
        return np.array([axis.knob.name in configuration for axis in self._axes])

    def points(self, configurations: Sequence[Configuration]) -> Points:
        """Returns the points of configurations, shape (configurations, dimensions)."""
        # reshape keeps the second dimension even without any configuration.
        return np.array([self.point(configuration) for configuration in configurations]).reshape(
            len(configurations), self.dimensions
        )

    def valid_near(self, point: Points, rng: np.random.Generator) -> Configuration:
        """Returns a point's configuration if it is valid, else a valid one with most of its values.

        See `repaired`.
        """
        return self.repaired(self.configuration(point), rng)

    def repaired(self, wanted: Configuration, rng: np.random.Generator) -> Configuration:
        """Returns `wanted` if it is valid, else a valid configuration with most of its values.

        The latter starts as a valid configuration drawn at random. It takes over the wanted values one by one
        in random order, except those that would break a rule. Knobs that a taken value makes active have
        their wanted values too.
        """
        if not self._space.broken_rules(wanted):
            return wanted
        # Moving the values into the rules directly would need knowledge of each rule.
        (found,) = self._space.sample(1, rng)
        for index in rng.permutation(self.dimensions):
            name = self._axes[index].knob.name
            if name not in wanted:
                continue
            changed = self._space.activated({**wanted, **found, name: wanted[name]})
            if not self._space.broken_rules(changed):
                found = changed
        return found


class _Axis:
    """The coordinate of one knob.

    Attributes:
        knob: the knob.
        values: number of the knob's values; 0 if it takes real numbers.
    """

    def __init__(self, knob: Knob) -> None:
        self.knob = knob
        # Whole numbers are counted in steps: a value is a multiple from _first to _last of _step.
        self._first, self._last, self._step = 0, 0, 1
        if knob.choices:
            self.values = len(knob.choices)
        elif isinstance(knob.low, int) and isinstance(knob.high, int):
            self._step = knob.step if -(-knob.low // knob.step) <= knob.high // knob.step else 1
            self._first, self._last = -(-knob.low // self._step), knob.high // self._step
            self.values = self._last - self._first + 1
        else:
            self.values = 0

    def value(self, coordinate: float) -> Value:
        """Returns the value whose cell contains a coordinate."""
        knob = self.knob
        if self.values == 0:
            return float(self._stretched(coordinate, knob.low, knob.high))
        if knob.choices:
            # The coordinate 1 belongs to the last cell.
            return knob.choices[min(int(coordinate * self.values), self.values - 1)]
        if knob.log:
            # The logarithm of 0 does not exist, so a range from 0 starts at one step, and 0 is never drawn.
            steps = int(self._stretched(coordinate, max(self._first, 1), self._last + 1))
        else:
            steps = self._first + int(coordinate * self.values)
        return min(max(steps, self._first), self._last) * self._step

    def coordinate(self, value: Value) -> float:
        """Returns the centre of a value's cell; 0.5 for a value that is not a choice."""
        knob = self.knob
        if knob.choices:
            return (knob.choices.index(value) + 0.5) / self.values if value in knob.choices else 0.5
        assert not isinstance(value, str)
        if self.values == 0:
            return self._shrunk(min(max(value, knob.low), knob.high), knob.low, knob.high)
        steps = min(max(value // self._step, self._first), self._last)
        if knob.log:
            return self._shrunk(steps + 0.5, max(self._first, 1), self._last + 1)
        return (steps - self._first + 0.5) / self.values

    def _stretched(self, coordinate: float, low: float, high: float) -> float:
        """Returns the number between `low` and `high` that a coordinate stands for, on the knob's scale."""
        if self.knob.log:
            return float(np.exp(np.log(low) + coordinate * (np.log(high) - np.log(low))))
        return low + coordinate * (high - low)

    def _shrunk(self, value: float, low: float, high: float) -> float:
        """Returns the coordinate of a number between `low` and `high`: the inverse of `_stretched`."""
        if high == low:
            return 0.5
        if self.knob.log:
            share = (np.log(max(value, low)) - np.log(low)) / (np.log(high) - np.log(low))
            return float(min(max(share, 0.0), 1.0))
        return (value - low) / (high - low)
