"""Every knob of the space `full`, at each choice or bound, in a store of the linked RocksDB."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine
from rocktune.space import Configuration, Knob, Space, Value, load_space, scaled_options
from rocktune.space.conditions import resolved
from rocktune.trial import Experiment
from rocktune.workload import WorkloadSpec

SCALE = 256
KEYS = 2_000 * SCALE
SPACE = load_space("full", None, KEYS)


def ends(knob: Knob) -> tuple[Value, ...]:
    """The choices of a knob, or its bounds."""
    return knob.choices or (knob.low, knob.high)


def pinned(space: Space, name: str, values: tuple[Value, ...]) -> Space:
    """The space in which a knob is active and has one of these values."""
    (knob,) = (knob for knob in space.knobs if knob.name == name)
    for condition in knob.when:
        (parent,) = (knob for knob in space.knobs if knob.name == condition.parent)
        space = pinned(space, parent.name, tuple(filter(condition.holds, parent.choices)))
    knobs = (each.narrowed(choices=values) if each.name == name else each for each in space.knobs)
    return replace(space, knobs=resolved(tuple(knobs), {}))


def covering() -> Iterator[Configuration]:
    """Configurations that have each choice and bound of each knob at least once, in few stores."""
    left = {(knob.name, value) for knob in SPACE.knobs for value in ends(knob)}
    rng = np.random.default_rng(1)
    for knob in SPACE.knobs:
        for value in ends(knob):
            if (knob.name, value) in left:
                (found,) = pinned(SPACE, knob.name, (value,)).sample(1, rng)
                left -= set(found.items())
                yield found
    assert not left


CONFIGURATIONS = tuple(covering())


def test_every_choice_and_bound_is_covered() -> None:
    for configuration in CONFIGURATIONS:
        SPACE.validate(configuration)
    for knob in SPACE.knobs:
        seen = {each[knob.name] for each in CONFIGURATIONS if knob.name in each}
        assert seen >= set(ends(knob))


def experiment() -> Experiment:
    """Lookups, puts and scans of values on both sides of the smaller thresholds of blob files."""
    workload = {
        "name": "all sizes",
        "keys": KEYS,
        "threads": 2,
        "value": {"kind": "uniform", "low": 50, "high": 6_000},
        "preload": {"keys": KEYS},
        "sessions": [{"mix": {"get": 0.5, "put": 0.4, "scan": 0.1}, "scan_length": {"low": 10}}],
    }
    return Experiment(WorkloadSpec.model_validate(workload), DeviceSpec(name="none"), SCALE, SPACE)


@pytest.mark.parametrize("number", range(len(CONFIGURATIONS)))
def test_a_store_opens_serves_and_reads_back(
    tmp_path: Path, real_worker: tuple[str, ...], number: int
) -> None:
    configuration = CONFIGURATIONS[number]
    wanted = scaled_options(SPACE.options(configuration), SCALE)
    with closing(EmbeddedEngine(tmp_path / "data", 0, 0, real_worker)) as engine:
        run = engine.open(experiment(), configuration, seed=1)
        for knob in SPACE.knobs:
            if knob.name in configuration:
                texts = [options[knob.section][knob.option_name] for options in (run.options, wanted)]
                assert knob.value_in(texts[0]) == knob.value_in(texts[1]), knob.name
        for opened in range(2):
            gets = run.advance(0.1).raw["operations"]["get"]
            # All keys were loaded, so a lookup that finds nothing is lost data.
            assert gets["count"] == gets["found"] > 0
            if not opened:
                engine.reopen(run, experiment(), configuration, seed=2)
        run.close()
