import pytest

from rocktune.export.rules import (
    background_threads,
    flat,
    translated,
    with_background_jobs,
)
from rocktune.systems.rules import named
from rocktune.systems.values import whole

RULES = {"b": named("b-there", whole(0, 9)), "a": named("a-there", whole(0, 9))}


def test_settings_come_in_the_rules_order() -> None:
    done = translated({"a": "1", "b": "2"}, RULES)
    assert list(done.settings.items()) == [("b-there", "2"), ("a-there", "1")]
    assert done.unmapped == []


def test_what_is_not_set_is_listed_with_its_reason() -> None:
    options = {"a": "10", "c": "3", "d": "4", "e": "5.000000", "f": "6"}
    done = translated(options, RULES, fixed={"d": "7", "e": "5"}, reasons={"f": "it is odd"})
    assert done.settings == {}
    assert done.unmapped == [
        "a=10: must be from 0 to 9 there",
        "c=3: no such setting",
        "d=4: always 7 there",
        "f=6: it is odd",
    ]


def test_option_that_rules_refuse_is_listed_even_where_it_is_fixed() -> None:
    assert translated({"a": "10"}, RULES, fixed={"a": "10"}).unmapped == ["a=10: must be from 0 to 9 there"]


@pytest.mark.parametrize(
    ("options", "threads"),
    [
        ({}, None),
        ({"max_background_jobs": "8"}, None),
        ({"max_background_compactions": "-1", "max_background_flushes": "-1"}, None),
        ({"max_background_compactions": "3", "max_background_flushes": "2"}, (3, 2)),
        # One alone: RocksDB takes 1 for the other.
        ({"max_background_compactions": "3"}, (3, 1)),
        ({"max_background_flushes": "2"}, (1, 2)),
    ],
)
def test_background_threads(options: dict[str, str], threads: tuple[int, int] | None) -> None:
    assert background_threads({"db": options}) == threads


def test_two_numbers_of_threads_become_one_of_jobs() -> None:
    options = {
        "db": {"max_background_compactions": "3", "max_background_flushes": "2", "bytes_per_sync": "1"}
    }
    jobs, (note,) = with_background_jobs(options)
    assert jobs["db"] == {"max_background_jobs": "5", "bytes_per_sync": "1"}
    assert "max_background_compactions=3 and max_background_flushes=2" in note
    assert options["db"]["max_background_flushes"] == "2"


def test_jobs_stay_where_rocksdb_divides_them() -> None:
    options = {"db": {"max_background_jobs": "8", "max_background_flushes": "-1"}}
    assert with_background_jobs(options) == (
        {"db": {"max_background_jobs": "8"}, "cf": {}, "table": {}},
        [],
    )


def test_flat_joins_the_sections() -> None:
    assert flat({"table": {"c": "3"}, "db": {"a": "1"}}) == {"a": "1", "c": "3"}
