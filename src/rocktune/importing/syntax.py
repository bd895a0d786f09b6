"""Reading the text of an OPTIONS file of any RocksDB version, or one that a person wrote."""

import re
from dataclasses import dataclass, field, replace
from pathlib import Path

from rocktune.importing.document import Family, Option, OptionsDocument, OptionsFileError, Section
from rocktune.importing.history import written_options
from rocktune.importing.systems import FORMAT_NAMES, system_document
from rocktune.importing.systems.db_bench import options_text
from rocktune.importing.values import UnbalancedBracesError, parts_of, unescaped, without_comment

_MAX_BYTES = 16 << 20
_HEADER = "# This is a RocksDB option file"
_TABLE = "TableOptions/"
_OTHERS = f"; besides OPTIONS files, these can be read: {FORMAT_NAMES}"
_CUT = "it is cut short; take a whole copy of the file"


def read_options_document(path: Path, name: str | None = None) -> OptionsDocument:
    """Reads an OPTIONS file.

    Args:
        path: the file.
        name: how messages name it; the path by default.

    Raises:
        OptionsFileError: it cannot be read, is no OPTIONS file, or is cut short.
    """
    shown = str(path) if name is None else name
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_BYTES + 1)
    except OSError as failure:
        raise _refusal(shown, f"it cannot be opened: {failure.strerror}") from None
    except ValueError as failure:  # a NUL in the path
        raise _refusal(shown, f"it cannot be opened: {failure}") from None
    return parsed_document(content, shown)


def parsed_document(content: bytes, path: str = "OPTIONS") -> OptionsDocument:
    """Parses the content of an OPTIONS file.

    Accepts what people write, too: a byte order mark, CRLF, no indentation, comments behind a value, no line
    end at the end, families without table options. What RocksDB itself wrote must be complete.

    Raises:
        OptionsFileError: it is no OPTIONS file, or is cut short.
    """
    text = _decoded(content, path)
    by_rocksdb = text.lstrip().startswith(_HEADER)
    if not by_rocksdb and not re.search(r"^\s*\[\s*(DBOptions|CFOptions|TableOptions|Version)", text, re.M):
        document = system_document(path, text)
        if document is not None:
            return document
    elif (embedded := options_text(text)) is not None:
        text = embedded
    sections = _sections(text, path, by_rocksdb)
    _refuse_pebble(sections, path)
    document = _document(sections, path, by_rocksdb)
    return _completed(document, text) if by_rocksdb else document


def _refusal(path: str, problem: str) -> OptionsFileError:
    return OptionsFileError(f"options file {path}: {problem}")


def _decoded(content: bytes, path: str) -> str:
    if not content.strip():
        raise _refusal(path, "it is empty")
    if len(content) > _MAX_BYTES:
        raise _refusal(path, f"it has more than {_MAX_BYTES >> 20} MiB, which no OPTIONS file has")
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _refusal(path, "it is UTF-16 text; save it as UTF-8")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _refusal(path, f"line {line} is not UTF-8 text; it is binary or no OPTIONS file") from None
    if control := re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", text):
        line = text.count("\n", 0, control.start()) + 1
        raise _refusal(path, f"line {line} is binary; it is no OPTIONS file")
    return text


@dataclass
class _Open:
    """A section that is still being read."""

    title: str
    argument: str | None
    line: int
    options: list[Option] = field(default_factory=list)

    def closed(self) -> Section:
        return Section(self.title, self.argument, self.line, tuple(self.options))


def _sections(text: str, path: str, by_rocksdb: bool) -> list[Section]:
    sections: list[_Open] = []
    # Not splitlines(), which also splits at characters that a value may hold.
    for number, raw in enumerate(text.split("\n"), 1):
        line = without_comment(raw)
        if not line:
            continue
        if line.startswith("[") and line.endswith("]"):
            sections.append(_heading(line, number))
            continue
        name, equals, value = line.partition("=")
        if not equals or not name.strip() or not sections:
            raise _refusal(path, _stray(line, number, by_rocksdb) + ("" if sections else _OTHERS))
        sections[-1].options.append(_option(name.strip(), value.strip(), number, path, by_rocksdb))
    closed = [section.closed() for section in sections]
    seen: dict[tuple[str, str | None], int] = {}
    for section in closed:
        first = seen.setdefault((section.title, section.argument), section.line)
        if first != section.line:
            named = section.title if section.argument is None else f'{section.title} "{section.argument}"'
            raise _refusal(path, f"section [{named}] comes twice, at lines {first} and {section.line}")
    return closed


def _stray(line: str, number: int, by_rocksdb: bool) -> str:
    shown = line if len(line) <= 60 else line[:57] + "..."
    problem = f"line {number} is neither a section nor an option: {shown!r}"
    return f"{problem}; {_CUT}" if by_rocksdb else problem


def _heading(line: str, number: int) -> _Open:
    match = re.fullmatch(r'\[\s*([^"]*?)\s*"(.*)"\s*\]', line, re.DOTALL)
    if match:
        return _Open(match[1], unescaped(match[2]), number)
    return _Open(line[1:-1].strip(), None, number)


def _option(name: str, value: str, number: int, path: str, by_rocksdb: bool) -> Option:
    text = unescaped(value)
    try:
        return Option(name, text, number, parts_of(text))
    except UnbalancedBracesError as error:
        end = f"; {_CUT}" if by_rocksdb else ""
        raise _refusal(path, f"line {number}: {name}: {error}{end}") from None


def _refuse_pebble(sections: list[Section], path: str) -> None:
    for section in sections:
        if section.title == "Version" and any(each.name == "pebble_version" for each in section.options):
            raise _refusal(
                path, "it is an OPTIONS file of Pebble, which is another engine; rocktune tunes RocksDB"
            )


def _document(sections: list[Section], path: str, by_rocksdb: bool) -> OptionsDocument:
    plain = {section.title: section.options for section in sections if section.argument is None}
    families: dict[str, Family] = {}
    unknown: list[Section] = []
    tables: list[tuple[str, Section]] = []
    for section in sections:
        if section.title == "CFOptions":
            name = section.argument or "default"
            families[name] = Family(name, section.line, section.options)
        elif section.title.startswith(_TABLE):
            tables.append((section.argument or "default", section))
        elif section.argument is not None or section.title not in ("Version", "DBOptions"):
            unknown.append(section)
    for name, section in tables:
        family = families.setdefault(name, Family(name, section.line, ()))
        if family.table_format is not None:
            raise _refusal(path, f"column family '{name}' has two table sections; leave one out")
        families[name] = replace(family, table_format=section.title[len(_TABLE) :], table=section.options)
    if not families and "DBOptions" not in plain:
        named = ", ".join(f"[{section.title}]" for section in sections) or "no section at all"
        end = f"; {_CUT}" if by_rocksdb else ""
        raise _refusal(path, f"it has no section [DBOptions] or [CFOptions], only {named}{end or _OTHERS}")
    if not families:
        families["default"] = Family("default", 0, ())
    version = plain.get("Version", ())
    return OptionsDocument(
        path=path,
        rocksdb_version=next((each.text for each in version if each.name == "rocksdb_version"), ""),
        by_rocksdb=by_rocksdb,
        version=version,
        db=plain.get("DBOptions", ()),
        families=tuple(families.values()),
        unknown_sections=tuple(unknown),
    )


def _completed(document: OptionsDocument, text: str) -> OptionsDocument:
    """Returns a document with RocksDB's header, or refuses it if its end is missing.

    RocksDB writes [Version], [DBOptions], and for each family [CFOptions] and its table section. Each has all
    options of its release. If families follow on a [DBOptions] that lacks some, a person shortened it.
    """
    names = {option.name for option in document.db}
    problem = ""
    if not document.rocksdb_version:
        problem = "it has no rocksdb_version"
    elif not any(family.name == "default" and family.line for family in document.families):
        problem = 'it has no section [CFOptions "default"]'
    elif not names >= written_options("db", document.rocksdb_version):
        return replace(document, by_rocksdb=False)
    elif not text.endswith("\n"):
        problem = f"line {text.count(chr(10)) + 1} does not end"
    elif without_table := [family.name for family in document.families if family.table_format is None]:
        problem = f"column family '{without_table[0]}' has no table section"
    # Each section ends with an empty line, which editors like to take away at the end of a file.
    elif without_comment(text[:-1].rpartition("\n")[2]):
        problem = _missing_at_the_end(document)
    if problem:
        raise _refusal(document.path, f"{problem}: {_CUT}")
    return document


def _missing_at_the_end(document: OptionsDocument) -> str:
    """Returns what the last table section lacks of what its RocksDB writes; "" if nothing."""
    last = document.families[-1]
    if last.table_format != "BlockBasedTable":
        return ""
    missing = written_options("table", document.rocksdb_version) - {option.name for option in last.table}
    if not missing:
        return ""
    others = " and others" if len(missing) > 3 else ""
    return (
        f"its last section lacks {', '.join(sorted(missing)[:3])}{others}, "
        "and the empty line that RocksDB writes at the end (add it if the file is whole)"
    )
