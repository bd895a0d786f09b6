"""db_bench's command lines."""

import shlex
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.importing.workloads.command_line import known_flags, parse_command


def flags(command: str) -> list[tuple[str, str]]:
    return [(each.name, each.text) for each in parse_command(command).flags]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("db_bench --num=10", [("num", "10")]),
        ("./build/db_bench -num=10", [("num", "10")]),
        ("db_bench --num 10", [("num", "10")]),
        ("--num=10", [("num", "10")]),
        ("db_bench --key-size=8", [("key_size", "8")]),
        ("db_bench --sync", [("sync", "true")]),
        ("db_bench --nosync", [("sync", "false")]),
        ("db_bench --sync=1 --num=3", [("sync", "1"), ("num", "3")]),
        ("db_bench \\\n  --num=10 \\\n  --sync", [("num", "10"), ("sync", "true")]),
        ("db_bench --benchmarks='fillseq,compact'", [("benchmarks", "fillseq,compact")]),
        ("db_bench --num=1 --num=2", [("num", "1"), ("num", "2")]),
        ("numactl -N 0 /usr/bin/db_bench --num=1 > out.txt 2>&1", [("num", "1")]),
        ("db_bench --num=1 | tee --sync log", [("num", "1")]),
        ("db_bench --num=1 -- --sync", [("num", "1")]),
        # gflags takes no value from the next word for flags that are true or false.
        ("db_bench --sync false --num=1", [("sync", "true"), ("num", "1")]),
    ],
)
def test_flags_are_read_as_gflags_reads_them(command: str, expected: list[tuple[str, str]]) -> None:
    assert flags(command) == expected


def test_words_that_are_no_flags_are_kept() -> None:
    line = parse_command("DB=/x numactl db_bench --sync false --num=1 ; rm -r /x")
    assert line.other_words == ("DB=/x", "numactl", "false", ";", "rm", "-r", "/x")


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("db_bench --nun=10", "did you mean '--num'"),
        ("db_bench --write_bufer_size=10", "did you mean '--write_buffer_size'"),
        ("db_bench --num", "--num: lacks its value"),
        ("db_bench --num='1", "check its quotes"),
        ("rocksdb_bench --num=1", "does not run db_bench"),
        ("", "does not run db_bench"),
        ("db_bench --flagfile=/missing/file", "/missing/file cannot be read"),
        ("db_bench --fromenv=num", "the environment is not read"),
    ],
)
def test_wrong_commands_are_refused(command: str, message: str) -> None:
    with pytest.raises(UserError, match="db_bench command: ") as caught:
        parse_command(command)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_undefok_allows_unknown_flags() -> None:
    line = parse_command("db_bench --mine=3 --num=1 --undefok=mine,other")
    assert [(each.name, each.text) for each in line.unknown] == [("mine", "3")]


def test_flag_files_are_read_at_their_place(tmp_path: Path) -> None:
    inner, outer = tmp_path / "inner", tmp_path / "outer"
    inner.write_text("--threads=4\n")
    outer.write_text(f"# mine\n\n--num=1\n--flagfile={inner}\n-sync\n")
    found = parse_command(f"db_bench --num=0 --flagfile={outer} --num=2").flags
    assert [(each.name, each.text, each.line) for each in found] == [
        ("num", "0", 0),
        ("num", "1", 3),
        ("threads", "4", 1),
        ("sync", "true", 5),
        ("num", "2", 0),
    ]


def test_a_flag_file_that_names_itself_ends(tmp_path: Path) -> None:
    path = tmp_path / "flags"
    path.write_text(f"--flagfile={path}\n")
    with pytest.raises(UserError, match="does one name itself"):
        parse_command(f"db_bench --flagfile={path}")


_VALUED = sorted(name for name, flag in known_flags().items() if flag.kind != "bool")


# A word alone may be part of the shell, such as `;`; behind `=` every text is a value.
_TEXTS = st.tuples(st.text(), st.just(True)) | st.tuples(
    st.from_regex(r"[\w ./-]+", fullmatch=True), st.just(False)
)


@given(st.lists(st.tuples(st.sampled_from(_VALUED), _TEXTS), max_size=6))
def test_quoted_values_of_any_text_are_read_back(chosen: list[tuple[str, tuple[str, bool]]]) -> None:
    words = ["db_bench"]
    for name, (value, joined) in chosen:
        words += [f"--{name}={value}"] if joined else [f"--{name}", value]
    # A backslash before a line end continues a line wherever it stands.
    assume(not any("\\\n" in word or "\\\r" in word for word in words))
    assert flags(shlex.join(words)) == [(name, value) for name, (value, _) in chosen]


@given(st.text(alphabet=st.sampled_from("-=n umosync'\"\\\n|>;$ 1"), max_size=40))
def test_any_command_is_read_or_refused(text: str) -> None:
    with suppress(UserError):
        parse_command(f"db_bench {text}")
