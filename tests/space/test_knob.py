import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.space import CATALOGUE, Knob

MIB = 1 << 20


def knob(**changes: Any) -> Knob:
    arguments: dict[str, Any] = {
        "section": "cf",
        "unit": "files",
        "default": 4,
        "effect": "",
        "low": 2,
        "high": 16,
    }
    return Knob("a_knob", **(arguments | changes))


SIZE = knob(unit="bytes", default=64 * MIB, low=32 * MIB, high=80 * MIB, step=MIB)
RATIO = knob(unit="ratio", default=0.1, low=0.0, high=0.25)
SWITCH = knob(unit="", default=False, choices=(False, True))
NAMED = knob(unit="", default="kZSTD", choices=("kZSTD", "kLZ4Compression"))
ORDINAL = knob(unit="bytes", default=4096, choices=(2048, 4096))
ALL = (knob(), SIZE, RATIO, SWITCH, NAMED, ORDINAL)


@settings(max_examples=60)
@given(low=st.integers(1, 1000), width=st.integers(0, 1000), step=st.integers(1, 300), log=st.booleans())
def test_samples_are_within_bounds_and_on_the_grid(low: int, width: int, step: int, log: bool) -> None:
    ranged = knob(low=low, high=low + width, step=step, log=log)
    drawn = ranged.sample(200, np.random.default_rng(0)).tolist()
    for value in drawn:
        ranged.check(value)
    if any(value % step == 0 for value in range(low, low + width + 1)):
        assert {value % step for value in drawn} == {0}


def test_samples_reach_both_ends() -> None:
    assert set(knob(low=2, high=5).sample(200, np.random.default_rng(0)).tolist()) == {2, 3, 4, 5}
    assert set(knob(low=2, high=5, log=True).sample(200, np.random.default_rng(0)).tolist()) == {2, 3, 4, 5}
    assert set(SWITCH.sample(50, np.random.default_rng(0)).tolist()) == {False, True}


def test_logarithmic_samples_halve_at_the_geometric_mean() -> None:
    drawn = knob(low=1.0, high=10000.0, log=True).sample(4000, np.random.default_rng(0))
    assert float((drawn < 100).mean()) == pytest.approx(0.5, abs=0.03)
    whole = knob(low=1, high=9999, log=True).sample(4000, np.random.default_rng(0))
    assert float((whole < 100).mean()) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("each", ALL)
def test_samples_survive_text(each: Knob) -> None:
    for value in each.sample(50, np.random.default_rng(0)).tolist():
        each.check(value)
        assert each.value_in(each.text(value)) == value
        assert each.parse(each.text(value)) == value


@settings(max_examples=60)
@given(st.floats(0, 0.25))
def test_every_double_survives_text(value: float) -> None:
    assert RATIO.value_in(RATIO.text(value)) == value


@pytest.mark.parametrize(
    ("each", "value", "told"),
    [
        (knob(), 1, "1 is outside 2 to 16"),
        (knob(), 17, "17 is outside 2 to 16"),
        (knob(), 4.0, "4.0 is not a whole number"),
        (knob(), True, "True is not a whole number"),
        (knob(), "4", "'4' is not a whole number"),
        (SIZE, 81 * MIB, "81MiB is outside 32MiB to 80MiB"),
        (RATIO, math.nan, "nan is outside"),
        (RATIO, "x", "'x' is not a number"),
        (SWITCH, 1, "1 is not one of False, True"),
        (NAMED, "kZstd", "'kZstd' is not one of kZSTD, kLZ4Compression"),
        (ORDINAL, 4097, "4097 is not one of 2048, 4096"),
    ],
)
def test_check_refuses(each: Knob, value: Any, told: str) -> None:
    with pytest.raises(UserError) as refusal:
        each.check(value)
    assert str(refusal.value).startswith("a_knob: ")
    assert told in str(refusal.value)


def test_check_accepts_values_off_the_sampling_grid() -> None:
    SIZE.check(32 * MIB + 1)
    RATIO.check(0)


@pytest.mark.parametrize(
    ("each", "text", "value"),
    [
        (knob(), " 7 ", 7),
        (SIZE, "64MiB", 64 * MIB),
        (SIZE, "1048576", MIB),
        (knob(unit="bytes/s"), "16MiB/s", 16 * MIB),
        (RATIO, "0.5", 0.5),
        (RATIO, "1e-3", 0.001),
        (SWITCH, "True", True),
        (SWITCH, "false", False),
        (NAMED, "kZSTD", "kZSTD"),
        (ORDINAL, "4k", 4096),
    ],
)
def test_parse(each: Knob, text: str, value: Any) -> None:
    parsed = each.parse(text)
    assert parsed == value
    assert type(parsed) is type(value)


@pytest.mark.parametrize(
    ("each", "text"),
    [
        (knob(), "0x10"),
        (knob(), "4.5"),
        (knob(), ""),
        (SIZE, "-1"),
        (SIZE, "0x10"),
        (RATIO, "nan"),
        (SWITCH, "1"),
    ],
)
def test_parse_refuses(each: Knob, text: str) -> None:
    with pytest.raises(UserError, match="a_knob"):
        each.parse(text)


def test_value_in_reads_what_rocksdb_writes() -> None:
    multiplier = CATALOGUE["max_bytes_for_level_multiplier"]
    assert multiplier.value_in("10.000000") == 10
    assert type(multiplier.value_in("10.000000")) is int
    assert multiplier.value_in("8.500000") == 8.5
    assert CATALOGUE["soft_pending_compaction_bytes_limit"].value_in("18446744073709551615") == 2**64 - 1
    with pytest.raises(UserError, match="'many' is not a number"):
        multiplier.value_in("many")


def test_filter_bits_are_read_out_of_the_policy() -> None:
    bits = CATALOGUE["bloom_bits"]
    assert bits.text(10) == "bloomfilter:10:false"
    assert bits.value_in("bloomfilter:10:false") == 10
    assert bits.value_in("bloomfilter:9.9:false") == 9.9
    assert bits.value_in("ribbonfilter:10:0") == 10
    assert bits.value_in("nullptr") == 0


def test_narrowed_moves_the_default_inside() -> None:
    assert knob().narrowed(low=6).default == 6
    assert knob().narrowed(high=3).default == 3
    assert knob().narrowed(low=3, high=5).default == 4
    assert ORDINAL.narrowed(choices=(512, 1024)).default == 512
    with pytest.raises(UserError, match="low 20 is above high 16"):
        knob().narrowed(low=20)


@pytest.mark.parametrize("each", CATALOGUE.values(), ids=CATALOGUE)
def test_catalogue_entries_are_sound(each: Knob) -> None:
    assert each.effect.endswith(".")
    assert len(each.effect) <= 110
    # -1 is how RocksDB says "a share of max_background_jobs".
    if each.default != -1:
        each.check(each.default)
    if each.scaled:
        assert each.unit in ("bytes", "us", "s")
    if each.live_change == "set_db_options":
        assert each.section == "db"
    for value in each.sample(20, np.random.default_rng(0)).tolist():
        each.check(value)
