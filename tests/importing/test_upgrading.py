"""What an upgrade changes for an OPTIONS file, by the release history and by installed versions."""

from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from rocktune.engine import OptionsChecker
from rocktune.engine.libraries import installed_workers
from rocktune.importing import Upgrade, parsed_document, read_options_document, upgrade_of
from rocktune.importing.history import (
    DefaultChange,
    MeaningChange,
    default_changes,
    meaning_changes,
)
from rocktune.importing.history.releases import lies_between, nearest_line, release_lines
from rocktune.importing.history.stores import store_changes
from rocktune.importing.installed import InstalledSide, disagreements, installed_side
from rocktune.rocksdb_version import RocksDbVersion

EMPTY = '[Version]\n[DBOptions]\n[CFOptions "default"]\n[TableOptions/BlockBasedTable "default"]\n'
DYNAMIC = "cf.level_compaction_dynamic_level_bytes"


def file_with(db: str = "", cf: str = "", table: str = "") -> str:
    return (
        f'[Version]\nrocksdb_version=8.3.2\n[DBOptions]\n{db}\n[CFOptions "default"]\n{cf}\n'
        f'[TableOptions/BlockBasedTable "default"]\n{table}\n'
    )


def upgrade(text: str, older: str, newer: str) -> Upgrade:
    return upgrade_of(parsed_document(text.encode()), None, older, newer)


def said(found: Upgrade) -> dict[str, str]:
    return {change.path: f"{change.kind}: {change.before} -> {change.after}" for change in found.changes}


CASES = {
    "left out": (file_with(), "8.3", "8.4", DYNAMIC, "new default: false -> true"),
    "patches do not count": (file_with(), "8.3.9", "8.4.1", DYNAMIC, "new default: false -> true"),
    "old default stated": (
        file_with(cf="level_compaction_dynamic_level_bytes=false"),
        "8.3",
        "11.8",
        DYNAMIC,
        "stays as it was: false -> true",
    ),
    "stated by a person": (
        file_with(cf="level_compaction_dynamic_level_bytes=0"),
        "8.3",
        "11.8",
        DYNAMIC,
        "stays as it was: false -> true",
    ),
    "new default stated": (
        file_with(cf="level_compaction_dynamic_level_bytes=true"),
        "8.3",
        "11.8",
        DYNAMIC,
        None,
    ),
    "before the upgrade": (file_with(), "8.4", "11.8", DYNAMIC, None),
    "after the upgrade": (file_with(), "7.8", "8.3", DYNAMIC, None),
    "two steps": (file_with(), "8.11", "10.11", "table.format_version", "new default: 5 -> 7"),
    "one of two": (file_with(), "9.0", "10.11", "table.format_version", "new default: 6 -> 7"),
    "a setting inside": (
        file_with(cf="compaction_options_universal={reduce_file_locking=false;size_ratio=1;}"),
        "10.11",
        "11.0",
        "cf.compaction_options_universal.reduce_file_locking",
        "stays as it was: false -> true",
    ),
    "a meaning": (
        file_with(db="max_background_jobs=4"),
        "8.9",
        "8.10",
        "db.max_background_jobs",
        "new meaning: 4 -> ",
    ),
    "a meaning of what the file sets": (file_with(), "8.9", "8.10", "db.max_background_jobs", None),
    "the meaning of an absent option": (
        file_with(),
        "8.5",
        "8.6",
        "cf.periodic_compaction_seconds",
        "new meaning: left out -> ",
    ),
    "an option that is not absent": (
        file_with(cf="periodic_compaction_seconds=100"),
        "8.5",
        "8.6",
        "cf.periodic_compaction_seconds",
        None,
    ),
    "gone": (
        file_with(db="access_hint_on_compaction_start=NORMAL"),
        "8.11",
        "9.0",
        "db.access_hint_on_compaction_start",
        "gone: NORMAL -> ",
    ),
    "renamed": (
        file_with(cf="max_write_buffer_number_to_maintain=2"),
        "10.1",
        "10.2",
        "cf.max_write_buffer_number_to_maintain",
        "renamed: 2 -> cf.max_write_buffer_size_to_maintain",
    ),
    "gone before": (
        file_with(db="access_hint_on_compaction_start=NORMAL"),
        "9.0",
        "11.8",
        "db.access_hint_on_compaction_start",
        None,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_change_is_named_if_it_matters(case: str) -> None:
    text, older, newer, path, expected = CASES[case]
    assert said(upgrade(text, older, newer)).get(path) == expected


def test_data_moves_only_where_levels_become_dynamic() -> None:
    def causes(cf: str, older: str = "8.3") -> list[str]:
        return [effect.cause for effect in upgrade(file_with(cf=cf), older, "11.8").effects]

    assert DYNAMIC in causes("")
    assert DYNAMIC in causes("compaction_style=kCompactionStyleLevel")
    assert DYNAMIC not in causes("compaction_style=kCompactionStyleUniversal")
    assert DYNAMIC not in causes("level_compaction_dynamic_level_bytes=false")
    assert DYNAMIC not in causes("", older="8.5")
    assert "RocksDB 11.0" in causes("")


def test_new_options_are_those_that_are_still_there() -> None:
    found = upgrade(EMPTY, "9.4", "11.8").new_options
    assert "db.write_identity_file (9.7)" in found
    assert upgrade(EMPTY, "11.8", "11.8").new_options == ()


@pytest.mark.parametrize(
    ("version", "line"),
    [
        ("8.5", "8.5"),
        ("8.5.3", "8.5"),
        ("8", "8.11"),
        ("8.99", "8.11"),
        ("12.0", "11.8"),
        ("3.9", "4.3"),
        ("4.1", "4.3"),
    ],
)
def test_the_nearest_release_line(version: str, line: str) -> None:
    assert nearest_line(RocksDbVersion.of(version)) == line
    assert line in release_lines()


def test_the_history_is_whole() -> None:
    lines = set(release_lines())
    changes: list[DefaultChange | MeaningChange] = [*default_changes(), *meaning_changes()]
    for change in changes:
        assert nearest_line(RocksDbVersion.of(change.since)) in change.since, change
        assert change.source, change
    for earlier, later in pairwise(default_changes()):
        if earlier.path == later.path:
            assert earlier.after == later.before, later
            assert RocksDbVersion.of(earlier.since) < RocksDbVersion.of(later.since)
    named = {change.path for change in default_changes()}
    for effect in store_changes():
        assert effect.option in named or effect.since in lines, effect


@pytest.mark.parametrize(
    ("release", "older", "newer", "passed"),
    [
        ("8.10", "8.9", "8.11", True),
        ("8.10", "8.9.1", "8.10.0", True),
        ("8.10", "8.10.0", "8.11", False),
        ("8.10", "8.9", "8.9.9", False),
        ("8.6.1", "8.5", "8.6", True),
        ("8.6.1", "8.6", "8.7", False),
        ("8.6.1", "8.6.0", "8.6.1", True),
        ("8.6.1", "8.5", "8.6.0", False),
    ],
)
def test_a_line_stands_for_its_newest_patch(release: str, older: str, newer: str, passed: bool) -> None:
    assert lies_between(release, older, newer) == passed


# ---- with installed versions


@pytest.fixture(scope="module")
def sides() -> list[InstalledSide]:
    """Each installed version with an empty file, oldest first; the default worker alone is at least there."""
    found = []
    for command in installed_workers().values():
        with closing(OptionsChecker(command)) as checker:
            found.append(installed_side(parsed_document(EMPTY.encode()), "default", checker.linked()))
    return found


def test_each_two_installed_versions_agree_with_the_history(sides: list[InstalledSide]) -> None:
    if len(sides) < 2:
        pytest.skip("only one RocksDB is installed ('make rocksdb' builds another)")
    for number, old in enumerate(sides):
        for new in sides[number + 1 :]:
            assert disagreements(old, new) == ()


def test_each_version_has_the_defaults_that_the_history_gives_it(sides: list[InstalledSide]) -> None:
    steps: dict[str, list[DefaultChange]] = {}
    for change in default_changes():
        steps.setdefault(change.path, []).append(change)
    compared = 0
    for side in sides:
        for path in steps.keys() & side.defaults.keys():
            expected = steps[path][0].before
            for step in steps[path]:
                expected = step.after if lies_between(step.since, "4.2", side.version) else expected
            assert (side.version, path, side.defaults[path]) == (side.version, path, expected)
            compared += 1
    assert compared >= 5


def made_up(version: str, **values: str) -> InstalledSide:
    opened = {f"cf.{name}": text for name, text in values.items()}
    return InstalledSide(version, opened, opened, None)


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ({"num_levels": "7"}, {"num_levels": "6"}, "cf.num_levels: its default is 7 in RocksDB 8.3.2 and 6"),
        ({"compression": "kZSTD"}, {"compression": "kLZ4Compression"}, "changes from kSnappyCompression to"),
        ({"num_levels": "7"}, {}, ""),
        ({"compression": "kSnappyCompression"}, {"compression": "kLZ4Compression"}, ""),
    ],
)
def test_a_disagreement_is_said(old: dict[str, str], new: dict[str, str], sentence: str) -> None:
    found = disagreements(made_up("8.3.2", **old), made_up("11.8.1", **new))
    assert (sentence in found[0]) if sentence else not found


def test_what_only_the_versions_know_is_added() -> None:
    document = parsed_document(file_with().encode())
    old = made_up("8.3.2", num_levels="7", compression="kSnappyCompression", ttl="5")
    new = made_up("11.8.1", num_levels="6", compression="kLZ4Compression", ttl="5")
    # 8.3.2 stands for 11.5: the change of compression explains the difference, and is not in the upgrade.
    found = upgrade_of(document, None, "11.5", "11.8", old, new)
    assert said(found)["cf.num_levels"] == "other value: 7 -> 6"
    assert not {"cf.compression", "cf.ttl"} & said(found).keys()
    assert (found.measured_from, found.measured_to) == ("8.3.2", "11.8.1")
    assert "cf.num_levels" in found.disagreements[0]
    refused = upgrade_of(document, None, "11.5", "11.8", old, replace(new, refused="no", opened={}))
    assert refused.refused == "no"
    assert "cf.num_levels" not in said(refused)


def test_a_real_file_and_all_that_is_installed(sides: list[InstalledSide]) -> None:
    """What the file says holds with both versions; all else is a change that has a name."""
    if len(sides) < 2:
        pytest.skip("only one RocksDB is installed ('make rocksdb' builds another)")
    path = Path(__file__).parent / "golden" / "OPTIONS-7.8.3-default"
    document = read_options_document(path)
    commands = list(installed_workers().values())
    read = []
    for command in (commands[0], commands[-1]):
        with closing(OptionsChecker(command)) as checker:
            read.append(installed_side(document, "default", checker.linked()))
    found = upgrade_of(document, None, read[0].version, read[1].version, *read)
    assert found.disagreements == ()
    assert not found.refused
    assert "other value" not in {str(change.kind) for change in found.changes}
