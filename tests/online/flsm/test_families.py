import random
from pathlib import Path

import pytest

import rocktune
from rocktune.errors import UserError
from rocktune.online.flsm import FlsmFamily, FlsmStore, read_flsm_shape

SMALL = {"cf": {"write_buffer_size": "65536", "target_file_size_base": "65536"}}
FAMILIES = {
    "users": FlsmFamily(size_ratio=4, policies="lazy", options=SMALL),
    "orders": FlsmFamily(size_ratio=3, policies=[2, 1], max_merge_bytes=131072, options=SMALL),
}


def three(path: Path) -> FlsmStore:
    return FlsmStore(path, size_ratio=4, options=SMALL, families=FAMILIES)


def test_each_family_has_its_own_keys_shape_and_statistics(tmp_path: Path) -> None:
    drawn = random.Random(1)
    with three(tmp_path) as store:
        assert store.families == ("default", "orders", "users")
        store.put(b"key", b"default")
        store.put(b"key", b"user", family="users")
        assert store.get(b"key") == b"default"
        assert store.get(b"key", family="users") == b"user"
        assert store.get(b"key", family="orders") is None
        for _ in range(1000):
            store.put(drawn.randbytes(8), drawn.randbytes(400), family="orders")
        store.flush(family="orders")
        store.settle()
        store.set_policy(1, 3, family="orders")
        assert store.shape(family="orders").size_ratio == 3
        assert store.shape(family="orders").levels[0].policy == 3
        assert store.shape(family="users").levels[0].policy == 4
        assert store.shape().runs == 0
        assert store.statistics(family="orders").entries_written == 1000
        assert store.statistics(family="users").entries_written == 1
        before = store.shape(family="orders")
    assert read_flsm_shape(tmp_path, family="orders").levels[1:] == before.levels[1:]
    with three(tmp_path) as store:
        assert store.shape(family="orders").levels[0].policy == 3
        assert store.get(b"key", family="users") == b"user"
        assert len(list(store.items(family="orders"))) == 1000


def test_a_batch_over_families_is_one_and_a_snapshot_shows_them_together(tmp_path: Path) -> None:
    with three(tmp_path) as store:
        store.write_families({"users": [(b"a", b"1"), (b"b", b"2")], "orders": [(b"a", b"3")]}, sync=True)
        snapshot = store.snapshot()
        entries = store.items(family="users")
        store.write_families({"users": [(b"a", None)], "orders": [(b"a", b"4"), (b"c", b"5")]})
        assert list(store.items(family="users")) == [(b"b", b"2")]
        assert list(snapshot.items(family="users")) == list(entries) == [(b"a", b"1"), (b"b", b"2")]
        assert snapshot.get(b"a", family="orders") == b"3"
        assert list(snapshot.items(b"b", family="users")) == [(b"b", b"2")]
        with pytest.raises(UserError, match="'invoices' is no column family of the store"):
            store.write_families({"users": [(b"b", None)], "invoices": [(b"a", b"1")]})
        assert store.get(b"b", family="users") == b"2"


def test_families_are_created_and_dropped_while_the_store_serves(tmp_path: Path) -> None:
    with three(tmp_path) as store:
        store.create_family("invoices", FlsmFamily(size_ratio=5, policies=[5], options=SMALL))
        store.put(b"key", b"value", family="invoices")
        assert store.shape(family="invoices").levels[0].policy == 5
        store.put(b"key", b"user", family="users")
        entries = store.items(family="users")
        store.drop_family("users")
        assert list(entries) == [(b"key", b"user")]
        with pytest.raises(UserError, match="'users' is no column family"):
            store.get(b"key", family="users")
        store.create_family("users")
        assert store.get(b"key", family="users") is None
        assert store.shape(family="users").size_ratio == 10
        store.drop_family("orders")
    families = {"invoices": FlsmFamily(options=SMALL), "users": FlsmFamily()}
    with FlsmStore(tmp_path, options=SMALL, families=families) as store:
        assert store.families == ("default", "invoices", "users")
        assert store.get(b"key", family="invoices") == b"value"
        assert store.shape(family="invoices").size_ratio == 5


def test_random_batches_differ_from_dictionaries_in_nothing(tmp_path: Path) -> None:
    drawn = random.Random(2)
    names = ("default", *FAMILIES)
    model: dict[str, dict[bytes, bytes]] = {name: {} for name in names}
    store = three(tmp_path)
    for step in range(1500):
        batch: dict[str, list[tuple[bytes, bytes | None]]] = {name: [] for name in names}
        for _ in range(drawn.randint(1, 5)):
            name, key = drawn.choice(names), b"%d" % drawn.randrange(300)
            value = drawn.randbytes(drawn.randrange(600)) if drawn.random() < 0.8 else None
            batch[name].append((key, value))
            if value is None:
                model[name].pop(key, None)
            else:
                model[name][key] = value
        store.write_families(batch)
        if step % 500 == 250:
            store.set_policy(drawn.randint(1, 3), drawn.randint(1, 3), family=drawn.choice(names))
        if step % 500 == 499:
            store.close()
            store = three(tmp_path)
    for name in names:
        assert list(store.items(family=name)) == sorted(model[name].items())
    store.close()


def test_bad_families_are_refused_in_one_line(tmp_path: Path) -> None:
    for family, problem in (
        (FlsmFamily(policies="lasy"), "did you mean 'lazy'"),
        (FlsmFamily(size_ratio=1), "size_ratio"),
        (FlsmFamily(options={"db": {"max_open_files": "10"}}), r"family users: options: 'db' is not one of"),
        (FlsmFamily(options={"cf": {"write_bufer_size": "1"}}), "write_bufer_size"),
    ):
        with pytest.raises(UserError, match=problem):
            FlsmStore(tmp_path / "new", families={"users": family})
        with FlsmStore(tmp_path / "old") as store, pytest.raises(UserError, match=problem):
            store.create_family("users", family)
    with FlsmStore(tmp_path / "old") as store:
        assert store.families == ("default",)
        store.create_family("users")
        with pytest.raises(UserError, match="already exists"):
            store.create_family("users")
        for name, problem in (("default", "default"), ("orders", "'orders' is no column family")):
            with pytest.raises(UserError, match=problem):
                store.drop_family(name)
        for call in (store.shape, store.statistics, store.flush):
            with pytest.raises(UserError, match="'orders' is no column family"):
                call(family="orders")
        with pytest.raises(UserError, match="'orders' is no column family"):
            store.set_policy(1, 1, family="orders")
    with pytest.raises(UserError, match="users"):
        FlsmStore(tmp_path / "old")
    with pytest.raises(UserError, match="orders"):
        read_flsm_shape(tmp_path / "old", family="orders")


def test_a_closed_store_has_no_families_and_what_came_from_one_lives_on(tmp_path: Path) -> None:
    store = three(tmp_path)
    store.put(b"key", b"value", family="users")
    entries, snapshot = store.items(family="users"), store.snapshot()
    store.close()
    for call in (lambda: store.families, lambda: store.get(b"key", family="users"), store.shape):
        with pytest.raises(RuntimeError, match="closed"):
            call()
    with pytest.raises(RuntimeError, match="closed"):
        store.create_family("invoices")
    assert list(entries) == [(b"key", b"value")]
    del entries, snapshot
    with three(tmp_path) as again:
        assert again.get(b"key", family="users") == b"value"


def test_pushes_in_pieces_lose_nothing(tmp_path: Path) -> None:
    drawn = random.Random(3)
    with FlsmStore(tmp_path, size_ratio=4, max_merge_bytes=131072, options=SMALL) as store:
        model = {}
        for _ in range(4000):
            key = drawn.randbytes(2)
            model[key] = drawn.randbytes(500)
            store.put(key, model[key])
        store.flush()
        store.settle()
        largest = max(level.compactions for level in store.statistics().levels)
        assert list(store.items()) == sorted(model.items())
    assert largest > 10


def test_it_is_to_be_had_from_the_package_itself() -> None:
    assert rocktune.FlsmFamily is FlsmFamily
