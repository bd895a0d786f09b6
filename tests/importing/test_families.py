"""OPTIONS files for workloads that load several of their column families."""

from pathlib import Path

import pytest

from rocktune.importing import Fate, LinkedRocksDb, OptionsFileError, import_options

HERE = Path(__file__).parent
THREE = HERE / "cases" / "three-families-empty-default.ini"


def test_loaded_families_are_read_as_the_tuned_one_is(linked: LinkedRocksDb) -> None:
    alone = import_options(THREE, linked, "nodes")
    loaded = import_options(THREE, linked, "nodes", loaded=("nodes", "edges"))
    edges = import_options(THREE, linked, "edges")
    assert loaded.options["cf"] == alone.options["cf"]
    assert loaded.options["cf:edges"] == edges.options["cf"]
    assert loaded.options["table:edges"] == edges.options["table"]
    assert loaded.options["cf:default"] == {}
    assert (loaded.family, loaded.account.loaded_families) == ("nodes", ("nodes", "edges"))
    assert loaded.other_families == ("default",)
    # Every option of the file is in the account once, whatever is loaded.
    named = [[(entry.section, entry.family, entry.name, entry.line) for entry in each.account.entries]
             for each in (alone, loaded)]  # fmt: skip
    assert named[0] == named[1]
    assert len(named[0]) == len(set(named[0]))
    assert not loaded.account.with_fate(Fate.NOT_MEASURED)
    assert alone.account.with_fate(Fate.NOT_MEASURED)


def test_tuned_together_each_family_has_sections_of_its_own(linked: LinkedRocksDb) -> None:
    together = import_options(THREE, linked, loaded=("nodes", "edges"))
    one = import_options(THREE, linked, "nodes", loaded=("nodes", "edges"))
    assert together.family == ""
    assert not {"cf", "table"} & together.options.keys()
    assert together.options["cf:nodes"] == one.options["cf"]
    assert together.options["cf:edges"] == one.options["cf:edges"]
    assert together.options["db"] == one.options["db"]
    assert together.block_caches == one.block_caches


def test_families_that_are_not_loaded_stay_as_the_file_says(linked: LinkedRocksDb) -> None:
    read = import_options(THREE, linked, "nodes")
    text = THREE.read_text()
    kept = read.options["cf:edges"]
    assert kept
    assert all(f"{name}={value}" in text for name, value in kept.items())


def test_a_family_that_the_workload_names_and_the_file_lacks_is_refused(linked: LinkedRocksDb) -> None:
    with pytest.raises(OptionsFileError, match="it has no column family 'users', only 'default'"):
        import_options(THREE, linked, "nodes", loaded=("nodes", "users"))
