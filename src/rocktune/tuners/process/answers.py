"""What the program of a process tuner asks for, validated and made to fit the space."""

import zlib
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from rocktune.errors import UserError, unknown_name
from rocktune.space import Configuration, Knob, Space, Value
from rocktune.spec_file import Spec
from rocktune.tuners.unit_cube import UnitCube

MAX_TRIALS = 1000
"""Trials that an answer may have."""


class AskedTrial(Spec):
    """A trial that a program asks for.

    Attributes:
        configuration: values by knob name. Active knobs that it does not name have their defaults, and what
            it says of inactive ones is dropped.
        until_s: age in seconds of load; None for that of an ordinary trial.
    """

    configuration: dict[str, Any]
    until_s: Annotated[float, Field(strict=True, gt=0)] | None = None


class Answer(Spec):
    """An answer of a program.

    Attributes:
        trials: the trials of the batch.
    """

    trials: Annotated[list[AskedTrial], Field(min_length=1, max_length=MAX_TRIALS)]


class Fitter:
    """Turns configurations of a program into valid ones."""

    def __init__(self, space: Space, seed: int) -> None:
        """Makes a fitter.

        Args:
            space: the space.
            seed: decides, with the configuration alone, how it is repaired. So a resumed search, which makes
                no repairs in its replay, repairs alike.
        """
        self._space, self._seed = space, seed
        self._cube = UnitCube(space)
        self._knobs = {knob.name: knob for knob in space.knobs}

    def fitted(self, wanted: Mapping[str, Any]) -> Configuration:
        """Returns the configuration, or, if it breaks a rule, a valid one with most of its values.

        Raises:
            UserError: it names an unknown knob, or a value that its knob cannot have.
        """
        values: dict[str, Value] = {}
        for name, value in wanted.items():
            if name not in self._knobs:
                raise unknown_name("knob", name, self._knobs)
            values[name] = _value(self._knobs[name], value)
        asked = self._space.activated(values)
        rng = np.random.default_rng([self._seed, zlib.crc32(asked.key.encode())])
        return self._cube.repaired(asked, rng)


def _value(knob: Knob, value: Any) -> Value:
    """Returns a value of JSON as one of the knob.

    Raises:
        UserError: the knob cannot have it.
    """
    if not isinstance(value, bool | int | float | str):
        raise UserError(f"{knob.name}: {value!r:.60} is not a value; use a number, a text, true or false")
    if isinstance(value, bool | str):
        found: Value = value
    elif knob.choices:
        # In JSON, 1 and true differ, while Python's compare equal.
        found = next((each for each in knob.choices if each == value and not isinstance(each, bool)), value)
    elif isinstance(knob.low, int) and isinstance(knob.high, int):
        # Some languages have no whole numbers.
        found = int(value) if isinstance(value, float) and value.is_integer() else value
    else:
        found = float(value)
    knob.check(found)
    return found
