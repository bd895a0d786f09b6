"""Knobs that are active only with some values of others."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.space import CATALOGUE, Condition, Configuration, Knob, Space, Value, load_space
from rocktune.space.conditions import resolved
from rocktune.space.rules import LevelsHaveSeveralFiles
from rocktune.testing.spaces import SpaceConformance
from rocktune.testing.synthetic_spaces import SYNTHETIC_SPACES
from rocktune.tuners.evolutionary.breeding import ValidGenes
from rocktune.tuners.unit_cube import UnitCube

(CONDITIONAL,) = (space for space in SYNTHETIC_SPACES if space.name == "conditional under a rule")


def switch(name: str, *when: Condition, choices: tuple[str, ...] = ("no", "yes")) -> Knob:
    return Knob(name, "cf", "", choices[0], "", choices=choices, when=when)


def space_of(*knobs: Knob) -> Space:
    return Space("mine", "", knobs, 1 << 30)


ANY = switch("a")
IF_A = switch("b", Condition("a", ("yes",)))
IF_B = switch("c", Condition("b", ("no",), unless=True))
CHAIN = space_of(IF_B, IF_A, ANY)


class TestConditionalSpace(SpaceConformance):
    @pytest.fixture
    def space(self) -> Space:
        budget = load_space("dremel", None, 1e6)
        return Space(
            "conditional",
            "",
            (
                *CONDITIONAL.knobs,
                *(knob for knob in budget.knobs if knob.name in ("write_buffer_size", "num_levels")),
            ),
            1 << 30,
            rules=CONDITIONAL.rules,
        )


def test_a_chain_is_active_as_far_as_its_conditions_hold() -> None:
    assert CHAIN.grid() == [
        Configuration(values)
        for values in (
            {"a": "no"},
            {"a": "yes", "b": "no"},
            {"a": "yes", "b": "yes", "c": "no"},
            {"a": "yes", "b": "yes", "c": "yes"},
        )
    ]
    assert CHAIN.default() == Configuration({"a": "no"})
    assert [knob.name for knob in CHAIN.conditional_knobs.in_order] == ["a", "b", "c"]


def test_draws_of_active_knobs_are_uniform() -> None:
    drawn = CHAIN.sample(8000, np.random.default_rng(1))
    shares = {each: drawn.count(each) / 8000 for each in CHAIN.grid()}
    assert list(shares.values()) == pytest.approx([0.5, 0.25, 0.125, 0.125], abs=0.02)


def test_defaults_fill_what_becomes_active_and_the_rest_is_dropped() -> None:
    assert CHAIN.activated({"a": "yes", "c": "yes"}) == Configuration({"a": "yes", "b": "no"})
    assert CHAIN.activated({"a": "yes", "b": "yes"}) == Configuration({"a": "yes", "b": "yes", "c": "no"})


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"a": "no", "b": "no"}, "b: has an effect only if a is yes, but it is no; leave it out"),
        (
            {"a": "yes", "b": "no", "c": "no"},
            "c: has an effect only if b is not no, but it is no; leave it out",
        ),
        ({"b": "no"}, "b: has an effect only if a is yes, but it is not set; leave it out"),
    ],
)
def test_an_inactive_knob_is_refused(wrong: dict[str, str], message: str) -> None:
    for refuse in (CHAIN.validate, CHAIN.options):
        with pytest.raises(UserError) as refusal:
            refuse(wrong)
        assert str(refusal.value) == message


def test_an_active_knob_needs_a_value() -> None:
    with pytest.raises(UserError, match=r"^b: the configuration has no value for this knob; add one$"):
        CHAIN.validate({"a": "yes"})


@pytest.mark.parametrize(
    ("knobs", "message"),
    [
        ((IF_A,), "b: when: unknown knob 'a'"),
        ((ANY, switch("b", Condition("a", ("maybe",)))), "b: when: a: 'maybe' is not one of no, yes"),
        (
            (switch("a", Condition("b", ("no",))), switch("b", Condition("a", ("no",)))),
            r"when: depends on itself \([ab] -> [ab] -> [ab]\); remove a condition",
        ),
    ],
)
def test_conditions_that_cannot_be_checked_are_refused(knobs: tuple[Knob, ...], message: str) -> None:
    with pytest.raises(UserError, match=message):
        space_of(*knobs)


def test_a_rule_applies_where_its_knobs_are_active() -> None:
    if_level = (Condition("style", ("level",)),)
    levels = (
        switch("style", choices=("level", "universal")),
        Knob(
            "max_bytes_for_level_multiplier",
            "cf",
            "",
            4,
            "",
            low=2,
            high=8,
            when=if_level,
        ),
        Knob("target_file_size_multiplier", "cf", "", 1, "", low=1, high=9),
    )
    space = Space("mine", "", levels, 1 << 30, rules=(LevelsHaveSeveralFiles(),))
    values: dict[str, Value] = {
        "style": "level",
        "max_bytes_for_level_multiplier": 4,
        "target_file_size_multiplier": 9,
    }
    assert space.broken_rules(values)
    assert not space.broken_rules(space.activated(values | {"style": "universal"}))
    drawn = space.sample(500, np.random.default_rng(2))
    assert any(each["target_file_size_multiplier"] == 9 for each in drawn)
    assert {each["style"] for each in drawn} == {"level", "universal"}


@given(st.integers(0, 10_000))
def test_samples_are_valid_and_come_back_from_the_unit_cube(seed: int) -> None:
    cube = UnitCube(CONDITIONAL)
    (drawn,) = CONDITIONAL.sample(1, np.random.default_rng(seed))
    CONDITIONAL.validate(drawn)
    back = cube.configuration(cube.point(drawn))
    assert set(back) == set(drawn)
    for name, value in drawn.items():
        assert back[name] == (pytest.approx(value) if isinstance(value, float) else value)
    default = cube.point(CONDITIONAL.default())
    inactive = ~cube.active(drawn)
    always = [knob.name not in CONDITIONAL.default() for knob in CONDITIONAL.knobs]
    assert (cube.point(drawn)[inactive & ~np.array(always)] == default[inactive & ~np.array(always)]).all()


@given(st.integers(0, 10_000))
def test_a_point_is_repaired_to_active_knobs(seed: int) -> None:
    rng, cube = np.random.default_rng(seed), UnitCube(CONDITIONAL)
    point = rng.random(cube.dimensions)
    found = cube.valid_near(point, rng)
    CONDITIONAL.validate(found)
    (genes,) = ValidGenes(cube)._do(None, np.array([point]), random_state=rng)
    CONDITIONAL.validate(cube.configuration(genes))
    assert (cube.point(cube.configuration(genes)) == genes)[~cube.active(cube.configuration(genes))].all()


def test_conditions_on_fixed_and_narrowed_knobs_are_resolved() -> None:
    assert resolved((IF_A, IF_B), {"a": "no"}) == ()
    assert [knob.when for knob in resolved((IF_A, IF_B), {"a": "yes"})] == [(), IF_B.when]
    assert resolved((ANY, IF_A), {}) == (ANY, IF_A)
    only_no = ANY.narrowed(choices=("no",))
    assert resolved((only_no, IF_A, IF_B), {}) == (only_no,)
    assert resolved((IF_A.narrowed(choices=("no",), when=()), IF_B), {}) == (
        IF_A.narrowed(choices=("no",), when=()),
    )


FILE = """
[knobs.compression]
choices = ["kNoCompression", "kZSTD"]
[knobs.max_subcompactions]
choices = [1, 2, 4]
when = { compression = "kZSTD" }
[knobs.enable_pipelined_write]
unless = { max_subcompactions = [1, 2] }
"""


def written(folder: Path, text: str) -> str:
    path = folder / "mine.toml"
    path.write_text(text)
    return str(path)


class TestSpaceFileWithConditions(SpaceConformance):
    @pytest.fixture
    def space(self, tmp_path: Path) -> Space:
        return load_space(written(tmp_path, FILE), None, 1e6)


def test_a_file_states_conditions(tmp_path: Path) -> None:
    space = load_space(written(tmp_path, FILE), None, 1e6)
    knobs = {knob.name: knob for knob in space.knobs}
    assert knobs["max_subcompactions"].when == (Condition("compression", ("kZSTD",)),)
    assert knobs["enable_pipelined_write"].when == (Condition("max_subcompactions", (1, 2), unless=True),)
    options = space.options(space.default())
    assert "max_subcompactions" not in options["db"]
    space.validate(
        space.default().replaced(
            {"compression": "kZSTD", "max_subcompactions": 4, "enable_pipelined_write": True}
        )
    )


def test_a_file_that_fixes_a_parent_decides_its_conditions(tmp_path: Path) -> None:
    text = "[knobs.block_size]\nwhen = {{ num_levels = {} }}\n[fixed]\nnum_levels = 7\n"
    (always,) = (
        knob
        for knob in load_space(written(tmp_path, text.format(7)), None, 0).knobs
        if knob.name == "block_size"
    )
    assert always.when == ()
    names = {knob.name for knob in load_space(written(tmp_path, text.format(6)), None, 0).knobs}
    assert names.isdisjoint({"block_size", "num_levels"})


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        (
            "when = { num_level = 7 }",
            "when: unknown knob 'num_level': did you mean 'num_levels'",
        ),
        ("when = { num_levels = 70 }", "when: num_levels: 70 is outside 2 to 32"),
        (
            "unless = { num_levels = [] }",
            "unless: num_levels has no value; give one, or leave it out",
        ),
        ("when = { block_size = 4096 }", r"when: depends on itself \(block_size -> block_size\)"),
    ],
)
def test_wrong_conditions_in_a_file_get_one_line(tmp_path: Path, conditions: str, message: str) -> None:
    with pytest.raises(UserError, match=rf"mine.toml: (knobs\.)?block_size: {message}") as refusal:
        load_space(written(tmp_path, f"[knobs.block_size]\n{conditions}\n"), None, 0)
    assert "\n" not in str(refusal.value)


def test_fields_of_one_option_are_written_together_and_read_back() -> None:
    one = Knob("one", "cf", "", 1, "", low=0, high=9, option="struct", field="a")
    other = Knob("other", "cf", "", 2, "", low=0, high=9, option="struct", field="b")
    space = Space("mine", "", (one, other), 1 << 30, fixed_options={"cf": {"struct": "a=5;c=words;"}})
    options = space.options({"one": 3, "other": 4})
    assert options["cf"]["struct"] == "{a=3;c=words;b=4}"
    assert dict(space.configuration_from_options(options)) == {"one": 3, "other": 4}
    assert dict(space.configuration_from_options({"cf": {"struct": "b=7;c=1;"}})) == {"one": 1, "other": 7}


def test_knobs_that_share_an_options_text_keep_each_others_values() -> None:
    bits = CATALOGUE["bloom_bits"].narrowed(template="bloomfilter:{}")
    kind = Knob(
        "kind", "table", "", "bloom", "", choices=("bloom", "ribbon"), option="filter_policy",
        template="{}filter:10", pattern="(bloom|ribbon)filter:.*",
        when=(Condition("bloom_bits", (0,), unless=True),),
    )  # fmt: skip
    space = Space("mine", "", (kind, bits), 1 << 30, expected_entries=1)
    assert space.options({"bloom_bits": 12, "kind": "ribbon"})["table"]["filter_policy"] == "ribbonfilter:12"
    assert space.options({"bloom_bits": 0})["table"]["filter_policy"] == "bloomfilter:0"
