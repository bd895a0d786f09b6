"""Configurations as points of the unit cube, for tuners that move in a space of real numbers."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from rocktune.space import Configuration, Knob, Space, Value

Points = NDArray[np.float64]


class UnitCube:
    """The cube of a space: one coordinate in [0, 1] for each knob, in the knobs' order.

    A knob of k values has k cells of equal width, in the order of its range or choices; a coordinate stands
    for the value in whose cell it lies. A real knob has no cells. Coordinates of a knob that is drawn on a
    logarithmic scale are on that scale.
    """

    def __init__(self, space: Space) -> None:
        """Takes a space's knobs."""
        self._axes = tuple(_Axis(knob) for knob in space.knobs)
        self._space = space

    @property
    def dimensions(self) -> int:
        """How many coordinates a point has."""
        return len(self._axes)

    @cached_property
    def discrete(self) -> NDArray[np.bool_]:
        """Which coordinates have cells."""
        return np.array([axis.values > 0 for axis in self._axes])

    def configuration(self, point: Points) -> Configuration:
        """Returns the configuration that a point stands for; it may break a rule."""
        return Configuration(
            {
                axis.knob.name: axis.value(float(coordinate))
                for axis, coordinate in zip(self._axes, point, strict=True)
            }
        )

    def point(self, configuration: Configuration) -> Points:
        """Returns the middle of a configuration's cells; values out of bounds are moved inside."""
        return np.array([axis.coordinate(configuration[axis.knob.name]) for axis in self._axes])

    def points(self, configurations: Sequence[Configuration]) -> Points:
        """Returns a row for each configuration."""
        return np.array([self.point(configuration) for configuration in configurations]).reshape(
            len(configurations), self.dimensions
        )

    def valid_near(self, point: Points, rng: np.random.Generator) -> Configuration:
        """Returns a point's configuration, or where that breaks a rule a valid one with most of its values.

        From a valid configuration drawn at random, the wanted values are taken over one by one, in random
        order, wherever no rule is broken by it.
        """
        return self.repaired(self.configuration(point), rng)

    def repaired(self, wanted: Configuration, rng: np.random.Generator) -> Configuration:
        """Returns a configuration, or where it breaks a rule a valid one, as `valid_near` does."""
        if not self._space.broken_rules(wanted):
            return wanted
        (found,) = self._space.sample(1, rng)
        for index in rng.permutation(self.dimensions):
            name = self._axes[index].knob.name
            changed = found.replaced({name: wanted[name]})
            if not self._space.broken_rules(changed):
                found = changed
        return found


class _Axis:
    """One knob's coordinate.

    Attributes:
        knob: the knob.
        values: how many values it has; 0 for a real one.
    """

    def __init__(self, knob: Knob) -> None:
        self.knob = knob
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
        """Returns the value whose cell holds a coordinate."""
        knob = self.knob
        if self.values == 0:
            return float(self._stretched(coordinate, knob.low, knob.high))
        if knob.choices:
            return knob.choices[min(int(coordinate * self.values), self.values - 1)]
        if knob.log:
            steps = int(self._stretched(coordinate, max(self._first, 1), self._last + 1))
        else:
            steps = self._first + int(coordinate * self.values)
        return min(max(steps, self._first), self._last) * self._step

    def coordinate(self, value: Value) -> float:
        """Returns the middle of a value's cell."""
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
        if self.knob.log:
            return float(np.exp(np.log(low) + coordinate * (np.log(high) - np.log(low))))
        return low + coordinate * (high - low)

    def _shrunk(self, value: float, low: float, high: float) -> float:
        if high == low:
            return 0.5
        if self.knob.log:
            share = (np.log(max(value, low)) - np.log(low)) / (np.log(high) - np.log(low))
            return float(min(max(share, 0.0), 1.0))
        return (value - low) / (high - low)
