"""Java's property files."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocktune.errors import UserError
from rocktune.importing.workloads.properties import parse_properties, read_properties


def pairs(text: str) -> list[tuple[str, str]]:
    return [(each.name, each.text) for each in parse_properties(text, "x")]


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("a=b", "a", "b"),
        ("a = b ", "a", "b "),
        ("a:b", "a", "b"),
        ("a b", "a", "b"),
        ("a\t:  b", "a", "b"),
        ("a==b", "a", "=b"),
        ("a", "a", ""),
        ("  a=b", "a", "b"),
        (r"a\ b=c", "a b", "c"),
        (r"a\:b=c", "a:b", "c"),
        (r"a=\u0041\t\q", "a", "A\tq"),
        ("a=b\\\n   c", "a", "bc"),
        ("a=b\\\\\n", "a", "b\\"),
        ("a=b\\", "a", "b"),
        ("a=b\r\n", "a", "b"),
        (r"a=\ud83d\ude00", "a", "\U0001f600"),
    ],
)
def test_a_line_is_read_as_java_reads_it(text: str, name: str, value: str) -> None:
    assert pairs(text) == [(name, value)]


def test_comments_and_empty_lines_are_no_properties_and_repeated_ones_are_kept() -> None:
    assert pairs("# a=1\n!b=2\n\n a=3\n#\\\na=4\r") == [("a", "3"), ("a", "4")]


def test_lines_are_counted_with_their_continuations() -> None:
    found = parse_properties("#\na=1\\\n  2\nb=3", "x")
    assert [(each.name, each.line) for each in found] == [("a", 2), ("b", 4)]


def test_a_malformed_escape_is_refused() -> None:
    with pytest.raises(UserError, match=r"f.properties, line 2: malformed"):
        parse_properties("a=1\nb=\\u12", "f.properties")


@pytest.mark.parametrize("data", [b"a=\xe9", "a=\xe9".encode(), "\ufeffa=\xe9".encode()])
def test_both_encodings_are_read(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.properties"
    path.write_bytes(data)
    assert [(each.name, each.text) for each in read_properties(path)] == [("a", "\xe9")]


def test_large_and_missing_files_are_refused(tmp_path: Path) -> None:
    large = tmp_path / "large"
    large.write_bytes(b"a" * ((1 << 20) + 1))
    with pytest.raises(UserError, match="larger than 1 MiB"):
        read_properties(large)
    with pytest.raises(UserError, match="cannot be read"):
        read_properties(tmp_path / "missing")


def _stored(text: str, is_key: bool) -> str:
    """Returns a text as `java.util.Properties.store` writes it."""
    made = []
    for at, character in enumerate(text):
        if character in "\\=:#!" or (character == " " and (is_key or at == 0)):
            made.append("\\" + character)
        elif " " <= character <= "~":
            made.append(character)
        else:
            units = character.encode("utf-16-be")
            made += [f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2)]
    return "".join(made)


@given(st.lists(st.tuples(st.text(min_size=1), st.text()), max_size=6))
def test_what_java_stores_is_read_back(properties: list[tuple[str, str]]) -> None:
    text = "".join(f"{_stored(key, True)}={_stored(value, False)}\n" for key, value in properties)
    assert pairs(text) == properties


@given(st.text(alphabet=st.sampled_from("ab=: \t\f\\u0#!\r\n"), max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(UserError):
        parse_properties(text, "x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("recordcount=5".encode("utf-16"), "is UTF-16 text; save it as UTF-8"),
        ("recordcount=5".encode("utf-16-le"), "is no text"),
        (b"\x7fELF\0\1", "is no text"),
    ],
)
def test_other_encodings_and_binaries_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(UserError, match=message):
        read_properties(path)
