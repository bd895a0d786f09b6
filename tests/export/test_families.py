"""Exports of stores with several column families."""

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from tests.export.samples import STUDY, TUNED, sections, written_options
from tests.export.test_cpp import HEADERS, STRICT, needs_rocksdb
from tests.report import sample

from rocktune.errors import UserError
from rocktune.export import export_study, export_targets
from rocktune.importing import LinkedRocksDb, import_options, imported, parsed_document
from rocktune.space import OptionMaps

ONE: OptionMaps = TUNED | {
    "cf:write": {"write_buffer_size": "1048576", "compression": "kZSTD"},
    "table:write": {"filter_policy": "bloomfilter:12:false"},
}
"""Family `default` is tuned, and the file has another one."""
TOGETHER: OptionMaps = {
    "db": TUNED["db"],
    "cf": {},
    "table": {"block_cache": "646000000"},
    "cf:default": TUNED["cf"],
    "table:default": {name: text for name, text in TUNED["table"].items() if name != "block_cache"},
    "cf:write": {"write_buffer_size": "1048576", "compression": "kZSTD"},
    "table:write": {"block_size": "16384"},
}
HOLDING = ("options-file", "cpp", "myrocks", "tikv")


def exported(target: str, options: OptionMaps, family: str | None = None) -> str:
    study = replace(STUDY, spec={**STUDY.spec, "column_family": family})
    best = sample.document()["best"] | {"options": options}
    return export_study(target, study, sample.outcome(best=best))


def test_an_options_file_has_every_family(tmp_path: Path, linked: LinkedRocksDb) -> None:
    for options, family in ((ONE, None), (TOGETHER, None), (ONE, "users")):
        path = tmp_path / "OPTIONS"
        path.write_text(exported("options-file", options, family))
        names = ["default", "write"] if family is None else ["default", "users", "write"]
        found = [import_options(path, linked, name).options["cf"] for name in names]
        assert found[-1]["write_buffer_size"] == "1048576"
        assert found[-2]["write_buffer_size"] == TUNED["cf"]["write_buffer_size"]


def test_myrocks_has_overrides() -> None:
    for options in (ONE, TOGETHER):
        text = exported("myrocks", options)
        default = next(line for line in text.splitlines() if line.startswith("rocksdb_default_cf_options"))
        override = next(line for line in text.splitlines() if line.startswith("rocksdb_override_cf_options"))
        assert f"write_buffer_size={TUNED['cf']['write_buffer_size']}" in default
        assert override.startswith(
            'rocksdb_override_cf_options="write={write_buffer_size=1048576;compression=kZSTD'
        )
        assert "rocksdb_block_cache_size=646000000" in text


def test_tikv_has_tables(linked: LinkedRocksDb) -> None:
    text = exported("tikv", TOGETHER | {"cf:mine": {"num_levels": "3"}, "table:mine": {}})
    assert '[rocksdb.writecf]\nwrite-buffer-size = "1MB"' in text
    assert "column family mine: TiKV has only default, write, lock, raft" in text.replace("\n#   ", " ")
    back = imported(parsed_document(text.encode(), "tikv.toml"), linked, "write")
    assert back.options["cf"]["compression"] == "kZSTD"
    assert back.options["table"]["block_size"] == "16384"


@pytest.mark.parametrize("target", [name for name in export_targets() if name not in HOLDING])
def test_others_have_the_tuned_family(target: str) -> None:
    text = exported(target, ONE)
    assert "those of write stay as they are" in " ".join(text.replace("#", " ").replace("//", " ").split())
    assert "1048576" not in text.replace("bytes_per_sync=1048576", "").replace(
        "setBytesPerSync(1048576L)", ""
    )
    with pytest.raises(
        UserError, match="tuned default, write together; export it to one of options-file, cpp"
    ):
        exported(target, TOGETHER)


@needs_rocksdb
@pytest.mark.parametrize(("options", "printed"), [(TOGETHER, "646000000 shared"), (ONE, "646000000 own")])
def test_the_cpp_functions_open_a_store(tmp_path: Path, options: OptionMaps, printed: str) -> None:
    (tmp_path / "tuned.h").write_text(exported("cpp", options))
    program, store = tmp_path / "open_families", tmp_path / "store"
    source = Path(__file__).parent / "cpp" / "open_families.cc"
    places = (f"-I{HEADERS}", f"-I{tmp_path}")
    subprocess.run([*STRICT, "-std=c++20", *places, str(source), "-o", str(program), "-lrocksdb"], check=True)
    done = subprocess.run([program, store], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, printed), done.stderr
    written = sections(written_options(store))
    assert written['[CFOptions "write"]']["write_buffer_size"] == "1048576"
    assert written['[CFOptions "write"]']["compression"] == "kZSTD"
    assert written['[CFOptions "default"]']["write_buffer_size"] == TUNED["cf"]["write_buffer_size"]
