import pytest

from rocktune.systems.values import (
    Filter,
    NotExpressibleError,
    choice,
    decimal,
    filter_in,
    quoted,
    size,
    switch,
    whole,
    whole_mebibytes,
)

UNITS = size((("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10), ("B", 1)))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("3221225472", "3GB"),  # 3 * 1024^3
        ("1610612736", "1536MB"),  # 1.5 GiB
        ("1049600", "1025KB"),  # 1 MiB + 1 KiB
        ("1048577", "1048577B"),
        ("0", "0B"),
    ],
)
def test_size_has_the_largest_unit_that_rounds_nothing(text: str, written: str) -> None:
    assert UNITS(text) == written
    assert quoted(UNITS)(text) == f'"{written}"'


@pytest.mark.parametrize("text", ["-1", "1.5", "64MB", "", "1;evil", "1\n", "0x10", "nan", "inf", "١"])
def test_text_that_is_no_size_is_not_written(text: str) -> None:
    with pytest.raises(NotExpressibleError):
        UNITS(text)


@pytest.mark.parametrize(("text", "written"), [("4", "4"), ("10.000000", "10"), ("-1", "-1")])
def test_whole_number(text: str, written: str) -> None:
    assert whole(-1, 10)(text) == written


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("11", "-1 to 10"),
        ("2.5", "must be a whole number"),
        ("4\n", "not a number"),
        ("four", "not a number"),
    ],
)
def test_what_is_no_whole_number_within_bounds(text: str, reason: str) -> None:
    with pytest.raises(NotExpressibleError, match=reason):
        whole(-1, 10)(text)


def test_whole_number_beyond_double_precision_is_kept() -> None:
    assert whole(0, (1 << 64) - 1)("18446744073709551614") == "18446744073709551614"


@pytest.mark.parametrize(
    ("text", "written"), [("8.000000", "8"), ("0.250000", "0.25"), ("1e-3", "0.001"), ("0.1", "0.1")]
)
def test_decimal(text: str, written: str) -> None:
    assert decimal(text) == written


def test_mebibytes_are_rounded_down() -> None:
    assert whole_mebibytes()("2097151") == "1"  # 2 MiB - 1
    with pytest.raises(NotExpressibleError):
        whole_mebibytes()("1048575")


def test_switches_and_choices() -> None:
    assert [switch("yes", "no")(text) for text in ("true", "false", "1", "0")] == ["yes", "no", "yes", "no"]
    with pytest.raises(NotExpressibleError, match="no such value"):
        choice({"a": "b"})("c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nullptr", Filter("none", 0)),
        ("", Filter("none", 0)),
        ("bloomfilter:10:false", Filter("bloom", 10)),
        ("bloomfilter:9.5:true", Filter("bloom", 9.5)),
        ("bloomfilter:10", Filter("bloom", 10)),
        ("ribbonfilter:12:-1", Filter("ribbon", 12)),
    ],
)
def test_filters(text: str, expected: Filter) -> None:
    assert filter_in(text) == expected


@pytest.mark.parametrize("text", ["mine", "bloomfilter", "bloomfilter:10:evil", "bloomfilter:10:false\n"])
def test_text_that_is_no_known_filter(text: str) -> None:
    with pytest.raises(NotExpressibleError, match="only Bloom and Ribbon"):
        filter_in(text)
