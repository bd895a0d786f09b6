"""Finds the configuration of a space that is nearest to wanted values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocktune.space.configuration import Configuration, Value
from rocktune.space.fitting import fitting_configuration
from rocktune.space.knob import Knob
from rocktune.space.space import Space


@dataclass(frozen=True)
class Nearest:
    """A configuration of a space, and what it lacks of the wanted values.

    Attributes:
        configuration: the configuration.
        differences: a text for each wanted value that it does not have.
    """

    configuration: Configuration
    differences: tuple[str, ...]


def nearest_configuration(space: Space, wanted: Mapping[str, Value]) -> Nearest:
    """Returns the configuration of a space that is nearest to wanted values.

    Numbers outside a knob's bounds become the nearest inside, and words that a knob does not have become its
    default. What exceeds the memory budget is changed as `with_fitting_memory` does.

    Args:
        space: the space.
        wanted: values by name; the other knobs have their defaults. Names that are no knobs are differences,
            unless the space fixes the option at that value.

    Raises:
        UserError: nothing near the values fits the budget, or they break another rule.
    """
    knobs = {knob.name: knob for knob in space.knobs}
    fixed = {name: column.item() for name, column in space.columns([space.default()]).items()}
    values = {name: _inside(knobs[name], value) for name, value in wanted.items() if name in knobs}
    configuration = fitting_configuration(space, values)
    return Nearest(configuration, tuple(_differences(wanted, fixed | dict(configuration), knobs)))


def _inside(knob: Knob, value: Value) -> Value:
    """Returns the knob's value nearest to a number; for a word that it does not have, its default."""
    if value in knob.choices:
        return value
    if isinstance(value, str):
        return knob.default
    numbers = [each for each in knob.choices if not isinstance(each, str)]
    return (
        min(numbers, key=lambda each: abs(each - value)) if numbers else min(max(value, knob.low), knob.high)
    )


def _differences(
    wanted: Mapping[str, Value], held: Mapping[str, Value], knobs: Mapping[str, Knob]
) -> Iterator[str]:
    """Yields a text for each wanted value that a configuration does not have.

    Args:
        wanted: values by name.
        held: the configuration's values, and those of options that the space fixes.
        knobs: the space's knobs by name.
    """
    for name, value in wanted.items():
        if held.get(name) == value:
            continue
        shown = knobs[name].shown if name in knobs else str
        instead = f"{shown(held[name])} instead of {shown(value)}" if name in held else f"{value} is left out"
        yield f"{name}: {instead}{'' if name in knobs else ', because it is no knob of this space'}"
