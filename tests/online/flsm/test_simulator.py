import pytest

from rocktune import api
from rocktune.errors import UserError
from rocktune.online import FlsmSimulator
from rocktune.study import Observer
from rocktune.units import MIB


def test_leveling_by_hand() -> None:
    # T = 4, a buffer of 10: the first flush is level 1's run,
    # written anew as 20 and 30, then as 40 at level 2.
    tree = FlsmSimulator(size_ratio=4, levels=3, write_buffer_bytes=10, file_bytes=10, moves=True)
    tree.write(40)
    assert [level.run_bytes for level in tree.shape().levels] == [(), (40,), ()]
    assert (tree.user_bytes, tree.written_bytes, tree.read_bytes) == (40, 40 + 90, 90)
    assert tree.write_amplification == (40 + 90) / 40


def test_a_copy_goes_its_own_way() -> None:
    tree = FlsmSimulator(size_ratio=4, levels=3, write_buffer_bytes=10)
    tree.write(25)
    other = tree.copy()
    other.set_policy(1, 3)
    # Both have two flushes, merged, and 5 buffered bytes: 5 more make a flush.
    other.write(5)
    assert (tree.user_bytes, other.user_bytes) == (25, 30)
    assert (tree.written_bytes, other.written_bytes) == (40, 50)
    assert (tree.shape().levels[0].policy, other.shape().levels[0].policy) == (1, 3)


def test_what_cannot_be_moved_is_written_anew() -> None:
    tree = FlsmSimulator(
        size_ratio=4, levels=3, write_buffer_bytes=10, file_bytes=10, level0_runs=0, moves=False
    )
    tree.write(40)
    # The first 10 into level 1, and the 40 into level 2.
    assert tree.written_bytes == 40 + 90 + 10 + 40


def test_what_was_flushed_is_a_run_that_need_not_be_written_anew() -> None:
    tree = FlsmSimulator(size_ratio=4, policies=[4], write_buffer_bytes=10, file_bytes=10, moves=False)
    tree.write(30)
    assert (tree.shape().level0_files, tree.shape().runs, tree.written_bytes) == (3, 3, 30)
    tree.write(10)
    assert [level.run_bytes for level in tree.shape().levels[:2]] == [(), (40,)]
    assert tree.written_bytes == 40 + 40


def test_a_hundred_terabytes_take_seconds() -> None:
    found = api.simulate_flsm(100 << 40, policies="lazy", write_buffer_bytes=256 * MIB, levels=7)
    assert found["shape"]["runs"] > 5
    assert 4 < found["write_amplification"] < 8


def test_a_change_costs_at_once_what_its_way_says() -> None:
    written = {
        transition: api.simulate_flsm(
            # Level 2 has 2,250 of 6,400 MiB, level 3 one full push.
            (6400 + 2250) * MIB, policies=[1], levels=4, then=[5], transition=transition
        )["transition_written_bytes"]
        for transition in ("flexible", "lazy", "greedy")
    }  # fmt: skip
    assert written["flexible"] == written["lazy"] == 0
    assert written["greedy"] >= 8000 * MIB


@pytest.mark.parametrize(
    ("layout", "problem"),
    [
        ({"policies": "lasy"}, "did you mean 'lazy'"),
        ({"policies": [11]}, "policies must have at least one value, each from 1 to size_ratio"),
        ({"levels": 13}, "levels must be from 1 to 12"),
        ({"write_buffer_bytes": 0}, "above 0"),
    ],
)
def test_bad_input_is_told_in_one_line(layout: dict[str, object], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        FlsmSimulator(**layout)  # type: ignore[arg-type]


def test_what_would_take_for_ever_or_mean_nothing_is_refused() -> None:
    with pytest.raises(UserError, match="use a larger write buffer"):
        FlsmSimulator().write(1 << 80)
    for policies, then in (("lazy", "lazy-leveling"), ("lazy-leveling", "lazy")):
        with pytest.raises(UserError, match="give K of each level"):
            api.simulate_flsm(MIB, policies=policies, then=then)


def test_policies_that_there_are_not_are_refused() -> None:
    with pytest.raises(UserError, match=r"policy: .*level 9 is not from 1 to 6"):
        FlsmSimulator().set_policy(9, 1)
    with pytest.raises(UserError, match="none of greedy, lazy and flexible"):
        FlsmSimulator().set_policy(1, 1, "eager")  # type: ignore[arg-type]


def test_a_simulation_tells_how_far_it_is() -> None:
    told: list[float] = []

    class Listening(Observer):
        def progress(self, phase: str, done: float, total: float) -> None:
            told.append(done / total)

    written = (1 << 40) + 1
    found = api.simulate_flsm(written, policies="lazy", observer=Listening())
    tree = FlsmSimulator(policies="lazy")
    tree.write(written)
    assert found["written_bytes"] == tree.written_bytes
    assert found["user_bytes"] == tree.user_bytes
    assert len(told) > 50
    assert told == sorted(told)
    assert told[-1] == 1


def test_a_course_is_that_of_single_writes() -> None:
    followed, single = (
        FlsmSimulator(policies=[3], level0_runs=4, levels=4, write_buffer_bytes=MIB) for _ in range(2)
    )
    course = followed.course(7 * MIB, 30)
    for after in zip(course.held_bytes, course.runs, course.level_bytes, strict=True):
        single.write(7 * MIB)
        shape = single.shape()
        numbers = range(1, len(shape.levels) + 1)
        held = [shape.held_bytes_of(number) for number in numbers]
        assert after == (held, [shape.runs_of(number) for number in numbers], list(single.level_bytes))
    assert followed.shape() == single.shape()


def test_a_course_of_too_many_flushes_is_refused() -> None:
    with pytest.raises(UserError, match="write buffers"):
        FlsmSimulator(write_buffer_bytes=10).course(10, 5_000_000)
