"""The history of defaults and meanings, compared with what RocksDB wrote and says."""

from itertools import combinations, groupby, pairwise, product
from pathlib import Path

import pytest
from tests.importing.golden_files import GOLDENS, same_value

from rocktune.importing import LinkedRocksDb, read_options_document
from rocktune.importing.history import (
    DefaultChange,
    MeaningChange,
    default_changes,
    default_differences,
    introduced_in,
    meaning_changes,
)
from rocktune.importing.translations import respelt
from rocktune.importing.values import parts_of, walked
from rocktune.rocksdb_version import RocksDbVersion

BARE = [path for path in GOLDENS if path.name.endswith("-bare")]
FIRST, LAST = RocksDbVersion.of("4.3"), RocksDbVersion.of("11.8")
Defaults = dict[tuple[str, str], str]


def flat(section: str, name: str, text: str) -> Defaults:
    """Returns an option's plain value, or that of each setting inside its braces."""
    settings = {(section, f"{name}.{path}"): part.text for path, part in walked(parts_of(text))}
    return settings or {(section, name): text}


def defaults_in(path: Path, linked: LinkedRocksDb) -> Defaults:
    """Returns the options of a file that RocksDB wrote for a store with nothing set."""
    document = read_options_document(path)
    (family,) = document.families
    found: Defaults = {}
    for section, options in (("db", document.db), ("cf", family.options), ("table", family.table)):
        for option in options:
            new = respelt(section, option, linked)
            found |= flat(section, option.name, new.text if new else option.text)
    # RocksDB chooses the level by whether it was built with assertions, as Debian's 7.8.3 was.
    del found["db", "info_log_level"]
    return found


def defaults_of(linked: LinkedRocksDb) -> Defaults:
    """Returns the options of a store that a worker opened with nothing set."""
    return {
        key: text
        for section, options in linked.examine({}).opened.items()
        for name, value in options.items()
        for key, text in flat(section, name, value).items()
        if name not in ("info_log_level", "block_cache")
    }


def assert_differences_are(first: Defaults, second: Defaults, one: str, two: str) -> None:
    """The history has every default that differs between two releases, and no other."""
    told = {
        (each.section, each.name): (each.first, each.second)
        for each in default_differences(RocksDbVersion.of(one), RocksDbVersion.of(two))
    }
    for key in first.keys() & second.keys():
        expected = told.get(key, (first[key], first[key]))
        assert same_value(first[key], expected[0]), (one, two, key, first[key], expected)
        assert same_value(second[key], expected[1]), (one, two, key, second[key], expected)


def test_the_history_has_the_defaults_that_rocksdb_wrote(linked: LinkedRocksDb) -> None:
    files = [(path.name.split("-")[1], defaults_in(path, linked)) for path in BARE]
    assert len(files) >= 18
    for (one, first), (two, second) in combinations(files, 2):
        assert len(first.keys() & second.keys()) > 90
        assert_differences_are(first, second, one, two)
        assert_differences_are(second, first, two, one)


def test_the_history_has_the_defaults_of_each_worker(every_linked: tuple[LinkedRocksDb, ...]) -> None:
    opened = [(linked.version, defaults_of(linked)) for linked in every_linked]
    files = [(path.name.split("-")[1], defaults_in(path, every_linked[0])) for path in BARE]
    for (one, first), (two, second) in product(opened, [*opened, *files]):
        assert len(first.keys() & second.keys()) > 90
        assert_differences_are(first, second, one, two)


def test_a_missing_or_false_change_is_noticed(linked: LinkedRocksDb) -> None:
    files = {path.name.split("-")[1]: defaults_in(path, linked) for path in BARE}
    old, new = files["7.8.3"], files["8.6.7"]
    for key in [("db", "max_open_files"), ("cf", "level_compaction_dynamic_level_bytes")]:
        with pytest.raises(AssertionError):
            assert_differences_are(old, new | {key: "17"}, "7.8.3", "8.6.7")


@pytest.mark.parametrize("changes", [default_changes(), meaning_changes()], ids=["defaults", "meanings"])
def test_changes_are_in_order_and_of_known_options(
    changes: tuple[DefaultChange | MeaningChange, ...],
) -> None:
    paths = [f"{each.section}.{each.name}" for each in changes]
    assert paths == sorted(paths)
    for path, same in groupby(changes, lambda each: f"{each.section}.{each.name}"):
        releases = [RocksDbVersion.of(each.since) for each in same]
        assert releases == sorted(set(releases))
        assert FIRST < releases[0] <= releases[-1] <= LAST
        introduced = introduced_in(path)
        assert path.startswith("read.") or introduced is not None
    for each in changes:
        assert each.source
        assert each.note == each.note.strip().removesuffix(".")


def test_each_default_goes_on_from_the_one_before() -> None:
    for _, same in groupby(default_changes(), lambda each: (each.section, each.name)):
        changes = list(same)
        assert all(each.before != each.after for each in changes)
        for earlier, later in pairwise(changes):
            assert earlier.after == later.before


def test_differences_between_releases() -> None:
    def between(one: str, two: str) -> dict[str, tuple[str, str]]:
        found = default_differences(RocksDbVersion.of(one), RocksDbVersion.of(two))
        return {each.name: (each.first, each.second) for each in found}

    assert between("8.3.2", "8.4.4") == {"level_compaction_dynamic_level_bytes": ("false", "true")}
    assert between("8.4.4", "8.3") == {"level_compaction_dynamic_level_bytes": ("true", "false")}
    assert between("8.4.0", "8.5.3") == {}
    assert between("6.5", "9.0.1")["format_version"] == ("2", "6")
    # The level that 5.13 changed is as before in 5.14.
    assert "compression_opts.level" not in between("5.12", "5.14")
    assert between("5.12", "5.13") == {"compression_opts.level": ("-1", "32767")}
    assert between("11.8.1", "12.0") == {}
