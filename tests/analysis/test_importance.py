import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import tomli_w

from rocktune import api
from rocktune.analysis import explained_by_knobs, importance_of, screened
from rocktune.analysis.importance import MAX_LEVELS, r_squared
from rocktune.device import load_device
from rocktune.errors import UserError
from rocktune.space import load_space, space_document, space_from_document
from rocktune.table import Conditions, Table, TableRow, knob_types, write_table
from rocktune.trial import FIGURES, Configuration, Status, Value
from rocktune.workload import load_workload


def table_of(rows: list[tuple[dict[str, Value], float]]) -> Table:
    made = [
        TableRow(
            Configuration(values),
            0,
            Status.OK,
            "",
            dict.fromkeys(FIGURES, math.nan) | {"throughput_ops_s": figure},
        )
        for values, figure in rows
    ]
    conditions = Conditions(
        knobs=knob_types(row.configuration for row in made),
        workload=load_workload("zipfian"),
        device=load_device("none"),
        space={"name": "jia-chen"},
        memory_bytes=1 << 30,
        scale=1,
        seed=1,
        measured_s=1.0,
    )
    return Table(conditions, tuple(made))


def test_r_squared_by_hand() -> None:
    # Means 2 and 5; residuals 1, 0, 1, 1, 0, 1 = 4; total around 3.5: 6.25 + 2.25 + .25 + .25 + 2.25 + 6.25.
    groups, values = np.array([0, 0, 0, 1, 1, 1]), np.array([1.0, 2, 3, 4, 5, 6])
    assert r_squared(groups, values) == pytest.approx(1 - 4 / 17.5)
    assert r_squared(groups, np.ones(6)) == 0
    assert r_squared(np.arange(6), values) == 1


def test_the_second_knob_is_judged_where_the_first_has_one_value() -> None:
    rng = np.random.default_rng(2)
    rows: list[tuple[dict[str, Value], float]] = [
        # b matters only where a is 4; c never does.
        ({"a": a, "b": b, "c": c, "fixed": 1}, 100.0 * a + (10 * b if a == 4 else 0) + rng.normal(0, 1))
        for a in (1, 2, 4)
        for b in (1, 2, 3)
        for c in ("x", "y", "z", "w")
    ]
    (found,) = importance_of(table_of(rows), ["throughput_ops_s"]).values()
    assert [each["knob"] for each in found][:2] == ["a", "b"]
    first, second, third = found
    assert first["r2"] > 0.95
    assert (first["r2_given_first"], first["given"]) == (None, None)
    assert second["given"] == {"a": 4}
    assert second["r2_given_first"] > 0.95 > 0.1 > second["r2"]
    assert third["r2_given_first"] < 0.8
    assert sum(each["fanova"] for each in found) == pytest.approx(1)
    assert first["fanova"] > 0.8


def test_importance_adds_only_shares_of_functional_anova() -> None:
    table = screened_table()
    (found,) = importance_of(table, ["throughput_ops_s"]).values()
    without = [{name: value for name, value in each.items() if name != "fanova"} for each in found]
    assert explained_by_knobs(table.rows, "throughput_ops_s") == without
    assert all("fanova" in each for each in found)


def test_progress_ends_with_the_last_part() -> None:
    rng = np.random.default_rng(4)
    rows: list[tuple[dict[str, Value], float]] = [({"a": a}, a + rng.normal()) for a in range(12)]
    seen: list[tuple[float, float]] = []
    importance_of(
        table_of(rows), ["throughput_ops_s"], progress=lambda done, total: seen.append((done, total))
    )
    assert seen == [(done, 4) for done in range(5)]


def test_a_knob_of_many_values_is_cut_into_groups() -> None:
    rng = np.random.default_rng(3)
    rows: list[tuple[dict[str, Value], float]] = [
        ({"x": float(x), "n": int(n)}, float(x))
        for x, n in zip(rng.random(400), rng.integers(0, 99, 400), strict=True)
    ]
    (found,) = importance_of(table_of(rows), ["throughput_ops_s"]).values()
    # Of a uniform variable 1 / groups² is left within them.
    assert found[0]["knob"] == "x"
    assert found[0]["r2"] == pytest.approx(1 - 1 / MAX_LEVELS**2, abs=0.005)
    assert found[1]["r2"] < 0.2


def test_what_cannot_be_said_is_refused() -> None:
    rows: list[tuple[dict[str, Value], float]] = [({"a": a}, float(a)) for a in range(12)]
    with pytest.raises(UserError, match="unknown field 'throughput': did you mean 'throughput_ops_s'"):
        importance_of(table_of(rows), ["throughput"])
    with pytest.raises(UserError, match="importance of db_bytes: only 0 runs have this figure; at least 10"):
        importance_of(table_of(rows), ["db_bytes"])
    with pytest.raises(UserError, match="importance of throughput_ops_s: neither a knob"):
        importance_of(table_of([({"a": 1}, float(a)) for a in range(12)]), ["throughput_ops_s"])


def test_a_table_is_read_by_its_file_and_a_study_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    write_table(path, table_of([({"a": a % 4, "b": a % 3}, float(a % 4)) for a in range(48)]))
    document = api.importance(str(path), ["throughput_ops_s"])
    assert document["runs"] == 48
    assert document["fields"]["throughput_ops_s"][0]["knob"] == "a"
    with pytest.raises(UserError, match=r"nowhere.csv: cannot be read"):
        api.importance(str(tmp_path / "nowhere.csv"))
    with pytest.raises(UserError, match="does not exist"):
        api.importance("mine", ledger=str(tmp_path / "no.sqlite"))


def test_a_conditional_knob_is_judged_where_it_is_active() -> None:
    # `width` explains everything among the wide shapes, and nothing is known of it elsewhere.
    rows: list[tuple[dict[str, Value], float]] = [
        ({"style": "flat", "other": each % 2}, 100.0) for each in range(20)
    ]
    rows += [
        ({"style": "wide", "other": each % 2, "width": each % 3}, 10.0 * (each % 3)) for each in range(18)
    ]
    (found,) = importance_of(table_of(rows), ["throughput_ops_s"]).values()
    by_knob = {each["knob"]: each for each in found}
    assert by_knob["width"]["r2"] == pytest.approx(1)
    assert by_knob["style"]["r2"] < 1
    assert sum(each["fanova"] for each in found) == pytest.approx(1)
    # Not only the wide shapes: `style` itself explains most of the variance.
    assert by_knob["style"]["fanova"] > by_knob["width"]["fanova"]


def screened_table() -> Table:
    """A sample of space `full` whose throughput depends on a knob of universal compaction alone."""
    space = load_space("full", None, 1.0)
    sample = space.sample(60, np.random.default_rng(5))
    name = "universal_size_ratio"
    rows = [(dict(each), 100.0 + float(each.get(name, -50))) for each in sample]
    table = table_of(rows)
    changed = table.conditions.model_copy(
        update={"space": {"name": "full"}, "memory_bytes": space.memory_bytes}
    )
    return replace(table, conditions=changed)


def test_a_screened_space_has_the_knobs_that_matter_and_their_parents(tmp_path: Path) -> None:
    table = screened_table()
    found = importance_of(table, ["throughput_ops_s"])
    screening = screened(table, found, 0.05)
    assert {"compaction_style", "universal_size_ratio"} <= set(screening.kept)
    assert len(screening.kept) < 12
    file = tmp_path / "narrow.toml"
    file.write_text(tomli_w.dumps(screening.document))
    narrow = load_space(str(file), table.conditions.memory_bytes, 1.0)
    assert {knob.name for knob in narrow.knobs} == set(screening.kept)
    # What is fixed is as in the default of the whole space.
    whole = load_space("full", table.conditions.memory_bytes, 1.0)
    assert whole.configuration_from_options(narrow.options(narrow.default())) == whole.default()
    # A narrowed space can be narrowed again.
    again = replace(
        table, conditions=table.conditions.model_copy(update={"space": space_document(str(file))})
    )
    assert screened(again, found, 0.2).document["base"] == "full"


def test_a_knob_that_no_preset_has_is_fixed_too() -> None:
    own = {"section": "cf", "low": 1, "high": 9}
    document = {
        "name": "own.toml",
        "file": {"base": "dremel", "knobs": {"memtable_max_range_deletions": own}},
    }
    space = space_from_document(document, None, 1.0)
    sample = space.sample(40, np.random.default_rng(5))
    table = table_of([(dict(each), float(each["write_buffer_size"])) for each in sample])
    changed = table.conditions.model_copy(update={"space": document, "memory_bytes": space.memory_bytes})
    table = replace(table, conditions=changed)
    screening = screened(table, importance_of(table, ["throughput_ops_s"]), 0.5)
    assert screening.kept == ("write_buffer_size",)
    usual = space.default()["memtable_max_range_deletions"]
    assert screening.document["fixed"]["cf"] == {"memtable_max_range_deletions": str(usual)}


def test_a_screening_without_a_knob_that_matters_is_refused() -> None:
    table = screened_table()
    found = importance_of(table, ["throughput_ops_s"])
    with pytest.raises(UserError, match=r"min_share: no knob explains 100% .*give at most 0\.\d\d"):
        screened(table, found, 1.0)
    with pytest.raises(UserError, match="min_share: 0 must be above 0"):
        screened(table, found, 0)
