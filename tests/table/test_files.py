import json
import math
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocktune.device import load_device
from rocktune.errors import UserError
from rocktune.space import Value
from rocktune.table import Conditions, Table, TableRow, knob_types, merged_tables, read_table, write_table
from rocktune.trial import FIGURES, Configuration, Status
from rocktune.workload import load_workload

numbers = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text(st.characters(blacklist_categories=["Cs", "Cc"]), min_size=1, max_size=20)


def table_of(rows: list[TableRow]) -> Table:
    conditions = Conditions(
        knobs=knob_types(row.configuration for row in rows),
        workload=load_workload("zipfian"),
        device=load_device("sata"),
        space={"name": "jia-chen"},
        memory_bytes=8 << 30,
        scale=64,
        seed=1,
        warm_up_s=0.9375,
        measured_s=2.8125,
        engine="RocksDB 7.8.3, assertions on",
        host="here",
        date="2026-03-04",
    )
    return Table(conditions, tuple(rows))


def figures(**known: float) -> dict[str, float]:
    return dict.fromkeys(FIGURES, math.nan) | known


def same(first: Table, second: Table) -> bool:
    """Equal, where NaN equals NaN."""
    return first.conditions == second.conditions and repr_of(first) == repr_of(second)


def repr_of(table: Table) -> list[object]:
    return [
        (row.configuration, row.replicate, row.status, row.message, sorted(map(str, row.figures.items())))
        for row in table.rows
    ]


ROWS = [
    TableRow(
        Configuration({"n": 3, "x": 0.1, "on": True, "how": "a,\"b\""}),
        0,
        Status.OK,
        "",
        figures(throughput_ops_s=1 / 3, read_latency_us_p99=250.0),
    ),
    TableRow(
        Configuration({"n": 4, "x": 1e-9, "on": False, "how": "z"}), 7, Status.CRASHED, "it, died", figures()
    ),
]  # fmt: skip


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    write_table(path, table_of(ROWS))
    assert same(read_table(path), table_of(ROWS))
    assert [each.name for each in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_inactive_knobs_are_empty_cells(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    without = TableRow(Configuration({"n": 2, "how": "none"}), 0, Status.OK, "", figures())
    write_table(tmp_path / name, table_of([*ROWS, without]))
    assert read_table(tmp_path / name).rows[-1].configuration == without.configuration


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(-(1 << 60), 1 << 60), numbers, st.booleans(), texts, numbers), min_size=1)
)
def test_csv_keeps_every_value_to_the_bit(values: list[tuple[int, float, bool, str, float]]) -> None:
    rows = [
        TableRow(Configuration({"a": a, "b": b, "c": c, "d": d}), 0, Status.OK, "", figures(db_bytes=figure))
        for a, b, c, d, figure in values
    ]

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "t.csv"
        write_table(path, table_of(rows))
        assert same(read_table(path), table_of(rows))


def test_a_table_by_hand_needs_only_what_is_known(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    document = table_of(ROWS).conditions.model_dump(mode="json") | {"knobs": {"n": "int"}}
    path.write_text(f"# {json.dumps(document)}\nn,status,throughput_ops_s\n1,ok,10\n2,crashed,\n")
    first, second = read_table(path).rows
    assert first.figures["throughput_ops_s"] == 10
    assert math.isnan(first.figures["read_latency_us_p99"])
    assert first.replicate == 0
    assert second.status is Status.CRASHED


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("# {", "{", "not a table: its first line is not"),
        ('"rocktune_table":1', '"rocktune_table":2', "rocktune_table: "),
        ('"knobs":{', '"knobs":{"m":"int",', "has no column 'm'"),
        ('"measured_s":2.8125', '"measured_s":0', "measured_s: input should be greater than 0"),
        (',"scale":64', "", "scale: missing"),
        ("true,0.1", "true,much", "row 1, x: 'much' is not a value of type float"),
        ("true,0.1", "maybe,0.1", "row 1, on: 'maybe' is not a value of type bool"),
        (",ok,", ",fine,", "row 1, status: 'fine' is not one of ok, invalid"),
        (",250.0,", ",fast,", "row 1, read_latency_us_p99: 'fast' is not a number"),
        ('"host":"here"', '"host":"here', "its conditions are malformed JSON"),
    ],
)
def test_a_malformed_table_is_refused_with_the_place(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    path = tmp_path / "t.csv"
    write_table(path, replace(table_of(ROWS)))
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UserError, match=r"t\.csv") as refused:
        read_table(path)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        # Without its quotes, the message's comma would move the figure to another column.
        ("1,crashed,signal 6, core dumped,\n", "row 1: has 5 cells and not 4, as there are columns"),
        ("1,ok,,10\n2,ok", "row 2: has 2 cells and not 4"),
        ('1,ok,"' + "x" * 200_000, "is not a table: field larger than field limit"),
    ],
)
def test_rows_of_another_length_are_refused(tmp_path: Path, rows: str, message: str) -> None:
    path = tmp_path / "t.csv"
    document = table_of(ROWS).conditions.model_dump(mode="json") | {"knobs": {"n": "int"}}
    path.write_text(f"# {json.dumps(document)}\nn,status,message,throughput_ops_s\n{rows}")
    with pytest.raises(UserError, match=r"t\.csv: ") as refused:
        read_table(path)
    assert message in str(refused.value)


def test_a_column_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    document = table_of(ROWS).conditions.model_dump(mode="json") | {"knobs": {"n": "int"}}
    path.write_text(f"# {json.dumps(document)}\nn,status,db_bytes,db_bytes\n1,ok,10,20\n")
    with pytest.raises(UserError, match="has the column 'db_bytes' twice; leave one out"):
        read_table(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty.csv").touch()
    cases = {
        "t.txt": "ends neither in .csv nor in .parquet",
        "no.csv": "cannot be read: No such file",
        "binary.csv": "not UTF-8 text",
        "empty.csv": "not a table",
    }
    for name, message in cases.items():
        with pytest.raises(UserError, match=message):
            read_table(tmp_path / name)
    with pytest.raises(UserError, match="cannot be written"):
        write_table(tmp_path / "empty.csv" / "t.csv", table_of(ROWS))


def test_tables_of_equal_conditions_become_one() -> None:
    first, second = table_of(ROWS[:1]), table_of(ROWS[1:])
    later = replace(
        second, conditions=second.conditions.model_copy(update={"date": "2026-03-05", "host": "there"})
    )
    merged = merged_tables({"a": first, "b": later})
    assert merged.rows == first.rows + second.rows
    assert (merged.conditions.date, merged.conditions.host) == ("2026-03-05", "here, there")
    other = replace(second, conditions=second.conditions.model_copy(update={"scale": 32}))
    with pytest.raises(UserError, match="'b' and 'a' were measured under different conditions: their scale"):
        merged_tables({"a": first, "b": other})


def test_tables_of_one_file_system_become_one() -> None:
    def on(file_system: str) -> Table:
        table = table_of(ROWS)
        return replace(table, conditions=table.conditions.model_copy(update={"file_system": file_system}))

    assert merged_tables({"a": on(""), "b": on("ext4"), "c": on("ext4")}).conditions.file_system == "ext4"
    assert merged_tables({"a": on(""), "b": on("")}).conditions.file_system == ""
    message = "'b' was measured on the file system ext4 and 'c' on tmpfs"
    with pytest.raises(UserError, match=message):
        merged_tables({"a": on(""), "b": on("ext4"), "c": on("tmpfs"), "d": on("ext4")})


def test_tables_with_other_active_knobs_become_one(tmp_path: Path) -> None:
    """A table of few runs lacks the conditional knobs that are inactive in all of them."""

    def single(**values: Value) -> Table:
        return table_of([TableRow(Configuration(values), 0, Status.OK, "", figures(throughput_ops_s=1.0))])

    merged = merged_tables({"a": single(n=1), "b": single(n=2, how="x"), "c": single(n=0.5)})
    assert merged.conditions.knobs == {"n": "float", "how": "str"}
    write_table(tmp_path / "t.csv", merged)
    read = [dict(row.configuration) for row in read_table(tmp_path / "t.csv").rows]
    assert read == [{"n": 1.0}, {"n": 2.0, "how": "x"}, {"n": 0.5}]
    with pytest.raises(UserError, match=r"'b': values of knob 'n' have the type str, those of .* int"):
        merged_tables({"a": single(n=1), "b": single(n="x")})
