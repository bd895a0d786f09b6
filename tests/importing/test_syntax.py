import re
from pathlib import Path

import pytest
from tests.importing.golden_files import GOLDENS

from rocktune.importing import OptionsDocument, OptionsFileError, parsed_document, read_options_document
from rocktune.importing.history import introduced_in, written_options
from rocktune.importing.values import parts_of, size_in, unescaped, without_comment


def parsed(text: str) -> OptionsDocument:
    return parsed_document(text.encode())


def refusal(content: str | bytes) -> str:
    with pytest.raises(OptionsFileError) as refused:
        parsed_document(content.encode() if isinstance(content, str) else content, "x.ini")
    message = str(refused.value)
    assert message.startswith("options file x.ini: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_what_rocksdb_wrote(path: Path) -> None:
    document = read_options_document(path)
    assert document.by_rocksdb
    assert document.rocksdb_version == path.name.split("-")[1]
    assert document.families[0].name == "default"
    assert all(family.table_format == "BlockBasedTable" for family in document.families)
    options = {option.name: option for option in document.db}
    assert len(options) == len(document.db)
    if not path.name.endswith("bare"):
        assert options["db_log_dir"].text.endswith("/log: of #one")
    names = [family.name for family in document.families]
    if path.name.endswith("families"):
        assert names[:3] == ["default", 'queue: "hot" #one', "events"]
    else:
        assert names == ["default"]


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_every_beginning_of_a_file_that_rocksdb_wrote_is_refused(path: Path) -> None:
    text = path.read_text()
    # Up to where a further family begins it is a whole file with fewer of them.
    begins = [match.start() for match in re.finditer(r"^\[CFOptions ", text, re.MULTILINE)][1:]
    whole = [range(len(text[:begin].rstrip()) + 1, begin + 1) for begin in begins]
    ends = [match.start() for match in re.finditer("\n", text[: len(text.rstrip()) - 1])]
    for length in [*ends[::3], *(end + 1 for end in ends[::3]), *(end + 9 for end in ends[::3])]:
        head = text[:length]
        if head.startswith("# This is a RocksDB option file") and not any(length in each for each in whole):
            message = refusal(head)
            assert "cut short" in message


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_an_editor_may_take_the_last_empty_line_away(path: Path) -> None:
    text = path.read_text()
    whole = text.rstrip() + "\n"
    assert parsed(whole).families == parsed(text).families
    lines = whole.splitlines(keepends=True)
    assert "its last section lacks " in refusal("".join(lines[:-1]))
    assert "add it if the file is whole" in refusal("".join(lines[:-1]))
    parsed("".join([*lines[:-1], "\n"]))
    assert "does not end" in refusal(text.rstrip())


def test_a_person_may_shorten_what_rocksdb_wrote() -> None:
    header = "# This is a RocksDB option file.\n[Version]\nrocksdb_version=5.14.0\n"
    document = parsed(f'{header}[DBOptions]\nmax_open_files=100\n[CFOptions "default"]\nnum_levels=5')
    assert not document.by_rocksdb
    assert "no section [CFOptions" in refusal(f"{header}[DBOptions]\nmax_open_files=100\n")


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_the_history_has_what_rocksdb_writes(path: Path) -> None:
    """Every option of a golden file is known, and none is expected that is not there."""
    document = read_options_document(path)
    family = document.families[0]
    for section, options in (("db", document.db), ("cf", family.options), ("table", family.table)):
        names = {option.name for option in options}
        assert written_options(section, document.rocksdb_version) <= names
        assert all(introduced_in(f"{section}.{name}") for name in names)


def test_what_people_write() -> None:
    document = parsed('[DBOptions]\n  max_open_files = 5 # few\n\n[CFOptions "a\\:b"]\n\tnum_levels=4')
    assert not document.by_rocksdb
    assert document.rocksdb_version == ""
    assert (document.db[0].name, document.db[0].text, document.db[0].line) == ("max_open_files", "5", 2)
    assert [(family.name, family.table_format) for family in document.families] == [("a:b", None)]
    assert parsed("[DBOptions]\na=1\n").families[0].name == "default"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "empty"),
        (" \n\n", "empty"),
        (b"\x7fELF\0\0", "binary"),
        (b"[DBOptions]\na=\xff\xfe\n", "line 2 is not UTF-8"),
        ("[DBOptions]\na=1\n".encode("utf-16"), "UTF-16"),
        ("hello\n", "line 1 is neither a section nor an option"),
        ("a=1\n", "line 1 is neither"),
        ("[Version]\nrocksdb_version=7.8.3\n", "no section [DBOptions] or [CFOptions], only [Version]"),
        ("[DBOptions]\na={b=1\n", "line 2: a: a brace is not closed"),
        ("[DBOptions]\na=b}\n", "line 2: a: a brace is closed that was not opened"),
        ("[DBOptions]\n[DBOptions]\n", "section [DBOptions] comes twice, at lines 1 and 2"),
        ('[CFOptions "a"]\n[TableOptions/X "a"]\n[TableOptions/Y "a"]\n', "two table sections"),
        ("[DBOptions]\na=" + "{b=" * 30 + "}" * 30, "more than 20 braces"),
    ],
)
def test_what_is_no_options_file(content: str | bytes, reason: str) -> None:
    assert reason in refusal(content)


def test_a_file_that_cannot_be_opened(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "absent", Path("a\0b")):
        with pytest.raises(OptionsFileError, match="cannot be opened"):
            read_options_document(path)


def test_values() -> None:
    names = [part.name for part in parts_of("{a=1;b={c=2;d={e=3;}};f=x:y;}")]
    assert names == ["a", "b", "f"]
    assert parts_of("{a=1;b={c=2;d={e=3;}}}")[1].parts[1].parts[0].text == "3"
    assert [part.text for part in parts_of("{{id=A;x=1;};{id=B;}}")] == ["{id=A;x=1;}", "{id=B;}"]
    assert [part.text for part in parts_of("{id=A;}:{id=B;}")] == ["{id=A;}", "{id=B;}"]
    assert [part.name for part in parts_of("a=1;b=2")] == ["a", "b"]
    assert parts_of("kZSTD:kLZ4Compression") == parts_of("{}") == parts_of("") == ()
    assert unescaped(r"C\:\\x\#y\nz") == "C:\\x#y\nz"
    assert without_comment(r"  a=b\#c # d") == r"a=b\#c"
    assert [size_in(text) for text in ("64MB", "1GiB", "2k", "64", "x")] == [
        64 << 20,
        1 << 30,
        2048,
        None,
        None,
    ]
