"""Every knob of the space `full`, at each choice or bound, in a store of the linked RocksDB."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rocktune.device import DeviceSpec
from rocktune.engine import EmbeddedEngine, EmbeddedSpec
from rocktune.engine.embedded.run import EmbeddedRun
from rocktune.space import (
    Configuration,
    Knob,
    Space,
    Value,
    scaled_options,
    space_document,
    space_from_document,
    with_deletes,
)
from rocktune.space.conditions import resolved
from rocktune.study.specs.left_out import left_out_of
from rocktune.trial import Experiment
from rocktune.workload import WorkloadSpec

SCALE = 256
KEYS = 2_000 * SCALE
PARTS = 4
# Values on both sides of the smaller thresholds of blob files.
WORKLOAD = WorkloadSpec.model_validate(
    {
        "name": "all sizes",
        "keys": KEYS,
        "threads": 2,
        "value": {"kind": "uniform", "low": 50, "high": 6_000},
        "preload": {"keys": KEYS},
        "sessions": [{"mix": {"get": 0.5, "put": 0.4, "scan": 0.1}, "scan_length": {"low": 10}}],
    }
)


@pytest.fixture(scope="module")
def space(real_worker: tuple[str, ...]) -> Space:
    """The space `full` with what the linked RocksDB has."""
    document = with_deletes(space_document("full"))
    everything = space_from_document(document, None, KEYS)
    left_out = left_out_of(everything, EmbeddedSpec(rocksdb=real_worker[0]), WORKLOAD)
    return space_from_document({**document, "left_out": left_out}, None, KEYS)


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


def covering(space: Space) -> Iterator[Configuration]:
    """Configurations that have each choice and bound of each knob at least once, in few stores."""
    left = {(knob.name, value) for knob in space.knobs for value in ends(knob)}
    rng = np.random.default_rng(1)
    for knob in space.knobs:
        for value in ends(knob):
            if (knob.name, value) in left:
                (found,) = pinned(space, knob.name, (value,)).sample(1, rng)
                left -= set(found.items())
                yield found


def test_every_choice_and_bound_is_covered(space: Space) -> None:
    configurations = list(covering(space))
    for configuration in configurations:
        space.validate(configuration)
    for knob in space.knobs:
        seen = {each[knob.name] for each in configurations if knob.name in each}
        assert seen >= set(ends(knob))


@pytest.mark.parametrize("part", range(PARTS))
def test_stores_open_serve_and_read_back(
    tmp_path: Path, real_worker: tuple[str, ...], space: Space, part: int
) -> None:
    experiment = Experiment(WORKLOAD, DeviceSpec(name="none"), SCALE, space)
    with closing(EmbeddedEngine(tmp_path / "data", 0, 0, real_worker)) as engine:
        for configuration in list(covering(space))[part::PARTS]:
            run = engine.open(experiment, configuration, seed=1)
            wanted = scaled_options(space.options(configuration), SCALE)
            for knob in space.knobs:
                if knob.name in configuration:
                    texts = [options[knob.section][knob.option_name] for options in (run.options, wanted)]
                    assert knob.value_in(texts[0]) == knob.value_in(texts[1]), configuration
            _serves(run, configuration)
            engine.reopen(run, experiment, configuration, seed=2)
            _serves(run, configuration)
            run.close()


def _serves(run: EmbeddedRun, configuration: Configuration) -> None:
    """Checks that lookups find every key: all were loaded, so one that is not found is lost."""
    gets = run.advance_operations(300).raw["operations"]["get"]
    # A thread counts what it found before the lookup, and may be between the two when the window ends.
    assert 0 < gets["count"] <= gets["found"] <= gets["count"] + WORKLOAD.threads, configuration
