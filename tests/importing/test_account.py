"""The account of files that RocksDB wrote, and of files that were damaged or made up."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.importing.golden_files import GOLDENS, same_value

from rocktune.importing import (
    Fate,
    ImportedOptions,
    LinkedRocksDb,
    OptionsDocument,
    OptionsFileError,
    imported,
    parsed_document,
    read_options_document,
)
from rocktune.importing.values import parts_of, walked
from rocktune.rocksdb_version import RocksDbVersion

HERE = Path(__file__).parent
FILES = {path.name: path.read_bytes() for path in [*GOLDENS, *sorted((HERE / "cases").glob("*.ini"))]}
ODD = (
    "18446744073709551616",
    "-1",
    "0x10",
    "1e400",
    "99999999",
    "kZSTD",
    "{a=1;b={c=2;};}",
    "acme.X",
    "",
    "true",
)


def names_of(document: OptionsDocument) -> list[tuple[int, str]]:
    """Every option of the file with its settings, by line."""
    options = [
        *document.db,
        *(option for family in document.families for option in (*family.options, *family.table)),
        *(option for section in document.unknown_sections for option in section.options),
    ]
    found = []
    for option in options:
        found.append((option.line, option.name))
        for path, _ in walked(option.parts):
            found.append((option.line, f"{option.name}{'' if path.startswith('[') else '.'}{path}"))
    return sorted(found)


def assert_complete(document: OptionsDocument, file: ImportedOptions) -> None:
    """Each option of the file is in the account exactly once."""
    assert sorted((entry.line, entry.name) for entry in file.account.entries) == names_of(document)
    assert sum(file.account.counts().values()) == len(file.account.entries)


def assert_read_back(file: ImportedOptions) -> None:
    """RocksDB has the value of each used option."""
    parsed = {
        (section, f"{name}{path}"): text
        for section, options in file.options.items()
        for name, value in options.items()
        for path, text in [("", value), *settings_in(value)]
    }
    for entry in file.account.with_fate(Fate.USED):
        if parts_of(entry.given):
            continue  # its settings have entries of their own
        text = parsed.get((entry.section, entry.name), "")
        # Releases differ in whether the settings of an object have braces around them.
        assert same_value(text, entry.given) or text.lstrip("{").startswith(f"id={entry.given};"), entry


def settings_in(value: str) -> list[tuple[str, str]]:
    return [
        (path if path.startswith("[") else f".{path}", part.text) for path, part in walked(parts_of(value))
    ]


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_every_option_of_a_golden_file_is_accounted_for(
    path: Path, every_linked: tuple[LinkedRocksDb, ...]
) -> None:
    document = read_options_document(path)
    for linked in every_linked:
        for family in document.families:
            file = imported(document, linked, family.name)
            assert_complete(document, file)
            assert_read_back(file)
            fates = {
                entry.name: entry.fate for entry in file.account.entries if entry.family in ("", family.name)
            }
            assert fates["create_if_missing"] is Fate.OVERRIDDEN
            assert fates["max_open_files"] is Fate.USED
            if not path.name.endswith("bare"):
                assert_honoured(document, file, fates)


def assert_honoured(document: OptionsDocument, file: ImportedOptions, fates: dict[str, Fate]) -> None:
    """The values that the programs beside the golden files set are those that RocksDB uses."""
    assert fates["db_log_dir"] is Fate.OVERRIDDEN
    assert file.options["db"]["max_background_jobs"] == "6"
    if file.family == "default":
        assert fates["partition_filters"] is Fate.USED
        bits = "9.5" if RocksDbVersion.of(document.rocksdb_version) >= RocksDbVersion.of("7.0") else "10"
        assert file.options["table"]["filter_policy"].startswith(f"bloomfilter:{bits}")
        assert file.options["cf"]["max_bytes_for_level_multiplier"] == "8.500000"
    if "queue" in file.family:
        assert Fate.FOREIGN in (fates["merge_operator"], fates["comparator"])
        assert "size_ratio=10;" in file.options["cf"]["compaction_options_universal"]
    if file.family == "events":
        assert "max_table_files_size=8589934592;" in file.options["cf"]["compaction_options_fifo"]
    if file.family == "index":
        assert fates["merge_operator"] is Fate.USED
        assert "bucket_count=5000;" in file.options["cf"]["memtable_factory"]
        assert file.options["table"]["index_type"] == "kHashSearch"


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_the_rocksdb_that_wrote_a_file_knows_all_of_it(
    path: Path, every_linked: tuple[LinkedRocksDb, ...]
) -> None:
    document = read_options_document(path)
    for linked in every_linked:
        account = imported(document, linked, "default").account
        if document.rocksdb_version == linked.version:
            assert set(account.counts()) <= {"used", "overridden", "not measured"}
        # Another version's file is used all the same, but for what came or went between the two.
        assert account.counts()["used"] > 90
        assert {entry.name for entry in account.with_fate(Fate.ADJUSTED)} <= {"write_dbid_to_manifest"}
        assert not account.with_fate(Fate.FOREIGN)


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.name)
def test_what_was_read_can_be_read_again(path: Path, every_linked: tuple[LinkedRocksDb, ...]) -> None:
    document = read_options_document(path)
    for linked in every_linked:
        file = imported(document, linked, "default")
        measured = {section: file.options[section] for section in ("db", "cf", "table")}
        again = linked.examine(measured)
        assert (again.refused, again.misread, again.ignored) == ({}, {}, {})
        assert again.parsed == measured


@pytest.mark.parametrize(
    ("line", "fate", "value"),
    [
        ("max_background_jobs=0x10", None, "RocksDB reads it as"),
        ("max_total_wal_size=-1", None, "RocksDB reads it as"),
        ("max_open_files=99999999999999999999999", None, "refuses"),
        ("no_such_option=1", Fate.UNKNOWN, ""),
        ("listeners={acme.Listener}", Fate.OVERRIDDEN, ""),
        ("allow_mmap_reads=true", Fate.OVERRIDDEN, "false"),
        ("delayed_write_rate=0", Fate.ADJUSTED, "16777216"),
        ("paranoid_checks=False", Fate.TRANSLATED, "false"),
        ("bytes_per_sync=1MiB", Fate.TRANSLATED, "1048576"),
        ("wal_recovery_mode=kSomethingNew", Fate.UNKNOWN, "kPointInTimeRecovery"),
    ],
)
def test_fates_of_database_options(linked: LinkedRocksDb, line: str, fate: Fate | None, value: str) -> None:
    document = parsed_document(f"[DBOptions]\n{line}\n".encode())
    if fate is None:
        with pytest.raises(OptionsFileError, match=f"line 2: {line}: .*{value}"):
            imported(document, linked)
        return
    entry = imported(document, linked).account.entries[0]
    assert (entry.fate, entry.value) == (fate, value)


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        (
            "max_backgroud_jobs=2",
            "no RocksDB up to 11.8 writes an option of this name; did you mean 'max_background_jobs'?",
        ),
        ("write_buffer_size=1M", "it belongs in the section [CFOptions]"),
        ("block_restart_interval=8", "it belongs in the section [TableOptions/BlockBasedTable]"),
        ("use_spdb_writes=true", "no RocksDB up to 11.8 writes an option of this name"),
    ],
)
def test_unknown_options_say_what_may_be_meant(linked: LinkedRocksDb, line: str, hint: str) -> None:
    file = imported(parsed_document(f"[DBOptions]\n{line}\n".encode()), linked)
    assert [entry.why for entry in file.account.with_fate(Fate.UNKNOWN)] == [hint]


@pytest.mark.parametrize(
    ("line", "fate", "value"),
    [
        ("compression_opts=-14:3:0:0:0:true", Fate.TRANSLATED, ""),
        ("compaction_options_fifo=4096", Fate.TRANSLATED, "{max_table_files_size=4096;}"),
        ("compression=zstd", Fate.TRANSLATED, "kZSTD"),
        ("memtable_prefix_bloom_huge_page_tlb_size=0", Fate.TRANSLATED, "memtable_huge_page_size=0"),
        ("write_buffer_size=1000", Fate.ADJUSTED, "65536"),
        ("comparator=leveldb.BytewiseComparator", Fate.USED, ""),
        ("comparator=leveldb.BytewiseComparator.u64ts", Fate.FOREIGN, ""),
        ("merge_operator=nullptr", Fate.USED, ""),
        ("merge_operator=UInt64AddOperator", Fate.USED, ""),
        ("memtable_factory=SkipListFactory", Fate.USED, ""),
        ("table_factory=PlainTable", Fate.FOREIGN, "BlockBasedTable"),
        ("table_factory=BlockBasedTable", Fate.USED, ""),
    ],
)
def test_fates_of_family_options(linked: LinkedRocksDb, line: str, fate: Fate, value: str) -> None:
    document = parsed_document(f'[CFOptions "default"]\n{line}\n'.encode())
    entry = imported(document, linked).account.entries[0]
    assert entry.fate is fate
    assert not value or entry.value == value


def test_what_needs_a_foreign_prefix_extractor_is_replaced(linked: LinkedRocksDb) -> None:
    text = (
        '[DBOptions]\nallow_concurrent_memtable_write=false\n[CFOptions "default"]\n'
        "prefix_extractor=acme.Prefix\nmemtable_factory={id=HashLinkListRepFactory;bucket_count=100;}\n"
        '[TableOptions/BlockBasedTable "default"]\nindex_type=kHashSearch\n'
    )
    file = imported(parsed_document(text.encode()), linked)
    adjusted = {entry.name: entry.value for entry in file.account.with_fate(Fate.ADJUSTED)}
    assert adjusted.items() >= {("memtable_factory", "SkipListFactory"), ("index_type", "kBinarySearch")}


def test_braces_without_a_setting_that_rocksdb_has(linked: LinkedRocksDb) -> None:
    text = '[CFOptions "default"]\ncompaction_options_fifo={ttl=3600;}\ncompression_opts={of_tomorrow=1;}\n'
    file = imported(parsed_document(text.encode()), linked)
    fates = {entry.name: (entry.fate, entry.value) for entry in file.account.entries}
    assert fates == {
        "compaction_options_fifo": (Fate.WITHOUT_EFFECT, ""),
        "compaction_options_fifo.ttl": (Fate.TRANSLATED, "ttl=3600"),
        "compression_opts": (Fate.WITHOUT_EFFECT, ""),
        "compression_opts.of_tomorrow": (Fate.UNKNOWN, ""),
    }
    assert file.options["cf"]["ttl"] == "3600"
    with pytest.raises(OptionsFileError, match="line 2: compaction_options_universal=tomorrow"):
        imported(parsed_document(b'[CFOptions "default"]\ncompaction_options_universal=tomorrow\n'), linked)


def test_options_that_no_store_opens_with_are_refused(linked: LinkedRocksDb) -> None:
    text = '[CFOptions "default"]\nmemtable_factory={id=HashLinkListRepFactory;bucket_count=100;}\n'
    with pytest.raises(OptionsFileError, match="opens no store with the options of column family 'default'"):
        imported(parsed_document(text.encode()), linked)


def test_options_given_twice_and_unknown_sections(linked: LinkedRocksDb) -> None:
    text = "[DBOptions]\nmax_open_files=50\nmax_open_files=60\n[Wishes]\nfaster=true\n"
    document = parsed_document(text.encode())
    file = imported(document, linked)
    assert_complete(document, file)
    assert file.options["db"]["max_open_files"] == "50"
    assert [entry.fate for entry in file.account.entries] == [Fate.USED, Fate.WITHOUT_EFFECT, Fate.UNKNOWN]


def mutated(content: bytes, seed: int) -> bytes:
    """Cuts, shuffles, renames, damages or enlarges parts of a file."""
    chance = random.Random(seed)
    lines = content.splitlines(keepends=True)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(lines))
        name, equals, value = lines[at].partition(b"=")
        kind = chance.randrange(8)
        if kind == 0:
            lines = lines[: at + 1]
        elif kind == 1:
            chance.shuffle(lines)
        elif kind == 2 and equals:
            lines[at] = name + b"=" + chance.choice(ODD).encode() + b"\n"
        elif kind == 3 and equals:
            lines[at] = name + b"_of_tomorrow=" + value
        elif kind == 4:
            damaged = bytearray(lines[at] or b" ")
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
            lines[at] = bytes(damaged)
        elif kind == 5:
            lines.insert(at, lines[chance.randrange(len(lines))])
        elif kind == 6:
            lines[at] = lines[at].rstrip(b"\r\n}; ") + b"\n"
        elif equals and value[:1].isdigit():
            lines[at] = name + b"=" + value.strip() + b"0" * chance.randint(1, 20) + b"\n"
    return b"".join(lines)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.sampled_from(sorted(FILES)), seed=st.integers(0, 1 << 32))
def test_a_damaged_file_is_refused_in_one_line_or_accounted_for(
    linked: LinkedRocksDb, name: str, seed: int
) -> None:
    refusal = ""
    try:
        document = parsed_document(mutated(FILES[name], seed))
        file = imported(document, linked, document.families[seed % len(document.families)].name)
        assert_complete(document, file)
    except OptionsFileError as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert not refusal or refusal.startswith("options file OPTIONS: ")
