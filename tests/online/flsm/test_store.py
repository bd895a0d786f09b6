import random
from pathlib import Path

import pytest

import rocktune
from rocktune.errors import UserError
from rocktune.online.flsm import FlsmStore, read_flsm_shape

SMALL = {"cf": {"write_buffer_size": "65536", "target_file_size_base": "65536"}}


def small(path: Path, **layout: object) -> FlsmStore:
    return FlsmStore(path, **({"size_ratio": 4, "options": SMALL} | layout))  # type: ignore[arg-type]


def test_what_is_put_is_there_and_what_is_deleted_is_not(tmp_path: Path) -> None:
    with small(tmp_path) as store:
        store.put(b"one", b"1")
        store.put(b"empty", b"", sync=True)
        store.write([(b"two", b"2"), (b"one", None), (b"three", b"3")])
        store.delete(b"three")
        assert store.get(b"one") is None
        assert store.get(b"empty") == b""
        assert list(store.items()) == [(b"empty", b""), (b"two", b"2")]
        assert list(store.items(b"f")) == [(b"two", b"2")]
        assert list(store.items(stop=b"f")) == [(b"empty", b"")]


def test_a_snapshot_and_an_iterator_show_the_moment_at_which_they_were_made(tmp_path: Path) -> None:
    with small(tmp_path) as store:
        store.put(b"key", b"before")
        snapshot, entries = store.snapshot(), store.items()
        store.put(b"key", b"after")
        store.put(b"another", b"after")
        assert snapshot.get(b"key") == b"before"
        assert list(snapshot.items()) == list(entries) == [(b"key", b"before")]
        assert store.get(b"key") == b"after"


def test_random_operations_differ_from_a_dictionary_in_nothing(tmp_path: Path) -> None:
    drawn = random.Random(1)
    model: dict[bytes, bytes] = {}
    store = small(tmp_path, policies="lazy", filters="monkey", bits_per_key=4)
    for step in range(6000):
        key = b"%d" % drawn.randrange(500)
        if drawn.random() < 0.7:
            model[key] = drawn.randbytes(drawn.randrange(400))
            store.put(key, model[key])
        elif drawn.random() < 0.5:
            model.pop(key, None)
            store.delete(key)
        assert store.get(key) == model.get(key)
        if step % 500 == 0:
            store.set_policy(
                drawn.randint(1, 4), drawn.randint(1, 4), drawn.choice(("flexible", "lazy", "greedy"))
            )
        if step % 2000 == 1999:
            store.close()
            store = small(tmp_path)
    assert list(store.items()) == sorted(model.items())
    store.close()


def test_a_store_is_opened_again_with_its_shape_and_policies(tmp_path: Path) -> None:
    with small(tmp_path, policies=[4, 2]) as store:
        for number in range(3000):
            store.put(b"%d" % (number * 7919 % 3000), random.Random(number).randbytes(300))
        store.set_policy(2, 3)
        store.flush()
        store.settle()
        before = store.shape()
    with small(tmp_path, policies=[1]) as store:
        store.settle()
        after = store.shape()
    assert after == before
    assert [level.policy for level in after.levels] == [4, 3, 2, 2, 2, 2]
    assert sum(sum(level.run_bytes) for level in after.levels) > 500_000
    assert after.runs >= 1
    assert read_flsm_shape(tmp_path) == after


@pytest.mark.parametrize(
    ("preset", "policies"),
    [("aggressive", [1, 1, 1]), ("moderate", [2, 2, 2]), ("lazy", [4, 4, 4]), ("lazy-leveling", [1, 4, 4])],
)
def test_presets_are_policies_for_every_level(tmp_path: Path, preset: str, policies: list[int]) -> None:
    with small(tmp_path, policies=preset, levels=3) as store:
        assert [level.policy for level in store.shape().levels] == policies


def test_bad_input_is_told_in_one_line(tmp_path: Path) -> None:
    for layout, problem in (
        ({"policies": "lasy"}, "did you mean 'lazy'"),
        ({"policies": [5]}, "policies"),
        ({"size_ratio": 1}, "size_ratio"),
        ({"bits_per_key": -1.0}, "bits_per_key"),
        ({"filters": "monkeys"}, "did you mean 'monkey'"),
        ({"granularity": "file"}, "did you mean 'files'"),
        ({"policies": []}, "policies"),
        ({"options": {"cf": {"write_bufer_size": "1"}}}, "write_bufer_size"),
    ):
        with pytest.raises(UserError, match=problem):
            small(tmp_path / "new", **layout)
    with small(tmp_path / "store") as store:
        for level, policy, transition in ((0, 1, "lazy"), (1, 5, "lazy"), (1, 1, "eager")):
            with pytest.raises(UserError, match="policy"):
                store.set_policy(level, policy, transition)  # type: ignore[arg-type]
        with pytest.raises(UserError, match="lock"):
            small(tmp_path / "store")
    with pytest.raises(UserError, match="is not an FLSM store"):
        read_flsm_shape(tmp_path / "nowhere")
    (tmp_path / "store" / "FLSM").write_text("{")
    with pytest.raises(UserError, match="is no shape of an FLSM store"):
        read_flsm_shape(tmp_path / "store")


def test_with_files_levels_stay_full_and_there_is_no_lazy_change(tmp_path: Path) -> None:
    drawn = random.Random(1)
    with small(tmp_path, policies=[2], granularity="files") as store:
        for _ in range(4000):
            store.put(drawn.randbytes(8), drawn.randbytes(1000))
        store.flush()
        store.settle()
        shape = store.shape()
        assert shape.levels[0].held_bytes <= shape.levels[0].capacity_bytes
        assert shape.levels[1].held_bytes > shape.levels[1].capacity_bytes / 2
        with pytest.raises(UserError, match=r"policy: .*which granularity files never does"):
            store.set_policy(1, 1, "lazy")


def test_a_closed_store_says_so_and_what_came_from_it_lives_on(tmp_path: Path) -> None:
    store = small(tmp_path)
    store.put(b"key", b"value")
    snapshot, entries = store.snapshot(), store.items()
    store.close()
    store.close()
    with pytest.raises(RuntimeError, match="closed"):
        store.get(b"key")
    assert list(entries) == [(b"key", b"value")]
    del snapshot, entries
    with small(tmp_path) as again:
        assert again.get(b"key") == b"value"


def test_statistics_tell_what_was_asked_for_and_what_each_level_cost(tmp_path: Path) -> None:
    drawn = random.Random(1)
    with small(tmp_path, sample_every=1, bits_per_key=2) as store:
        for _ in range(2000):
            store.put(drawn.randbytes(8), drawn.randbytes(1000))
        store.flush()
        store.settle()
        before = store.statistics()
        assert [store.get(drawn.randbytes(8)) for _ in range(1000)] == [None] * 1000
        for _ in store.items():
            break
        since = store.statistics().since(before)
        assert (since.lookups, since.found, since.iterators, since.entries_written) == (1000, 0, 1, 0)
        assert before.entries_written == 2000
        assert before.levels[1].compaction_written_bytes > 0
        deepest = max(level for level, held in enumerate(store.shape().levels, 1) if held.run_bytes)
        # Two bits a key let e^(-2 (ln 2)^2) = 38% pass; filters of small tables are rounded up, and better.
        assert 0.01 < since.levels[deepest].false_positive_rate < 0.45
        assert since.levels[deepest].read_ns > 0
        assert since.levels[deepest].compactions == 0
    with small(tmp_path, sample_every=0) as store:
        store.get(b"key")
        assert store.statistics().lookups == 0


def test_it_is_to_be_had_from_the_package_itself() -> None:
    assert rocktune.FlsmStore is FlsmStore
