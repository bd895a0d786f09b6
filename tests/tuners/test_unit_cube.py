import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rocktune.space import CATALOGUE, Knob, Space, load_space
from rocktune.tuners.unit_cube import UnitCube

DREMEL = load_space("dremel", None, 1e7)
JIA_CHEN = load_space("jia-chen", None, 1e8)
OF_ALL_KINDS = Space(
    "all kinds",
    "",
    (
        CATALOGUE["max_bytes_for_level_base"].narrowed(log=True),
        Knob("share", "cf", "ratio", 0.5, "", low=0.25, high=4.0, log=True),
        Knob("plain", "cf", "ratio", 0.5, "", low=-1.0, high=3.0),
        Knob("one", "cf", "files", 7, "", low=7, high=7),
        Knob("switch", "cf", "", True, "", choices=(True, False)),
        Knob("word", "cf", "", "a", "", choices=("a", "b", "c")),
    ),
    1 << 30,
)


@pytest.mark.parametrize("space", [DREMEL, JIA_CHEN, OF_ALL_KINDS], ids=lambda space: space.name)
def test_a_configuration_comes_back_from_its_point(space: Space) -> None:
    cube = UnitCube(space)
    configurations = space.sample(200, np.random.default_rng(1))
    points = cube.points(configurations)
    assert points.shape == (200, len(space.knobs))
    assert ((points >= 0) & (points <= 1)).all()
    for configuration, point in zip(configurations, points, strict=True):
        back = cube.configuration(point)
        for name, value in configuration.items():
            assert back[name] == (pytest.approx(value) if isinstance(value, float) else value)


def test_cells_are_equally_wide_and_the_ends_belong_to_them() -> None:
    cube = UnitCube(JIA_CHEN)
    middles = (np.arange(2000) + 0.5) / 2000
    buffers = [cube.configuration(np.full(6, each))["max_write_buffer_number"] for each in middles]
    assert [buffers.count(value) for value in (1, 2, 4, 8, 16)] == [400] * 5
    low, high = (cube.configuration(np.full(6, end)) for end in (0.0, 1.0))
    assert (low["threads"], high["threads"]) == (1, 8)
    assert list(cube.discrete) == [True] * 6
    assert list(UnitCube(OF_ALL_KINDS).discrete) == [True, False, False, True, True, True]


def test_values_out_of_bounds_are_moved_inside() -> None:
    cube = UnitCube(DREMEL)
    outside = DREMEL.default().replaced({"write_buffer_size": 1 << 40, "block_size": 3})
    inside = cube.configuration(cube.point(outside))
    assert inside["write_buffer_size"] == 80 << 20
    assert inside["block_size"] in (2048, 4096, 8192, 16384)


@given(arrays(float, 14, elements=st.floats(0, 1)), st.integers(0, 99))
def test_near_every_point_there_is_something_valid(point: np.ndarray, seed: int) -> None:
    cube = UnitCube(DREMEL)
    found = cube.valid_near(point, np.random.default_rng(seed))
    DREMEL.validate(found)
    if not DREMEL.broken_rules(cube.configuration(point)):
        assert found == cube.configuration(point)
