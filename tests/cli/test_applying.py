"""What `rocktune apply` prints and writes."""

import json
from pathlib import Path

import pytest

from rocktune import api
from rocktune.cli.main import main

Outputs = pytest.CaptureFixture[str]


@pytest.fixture
def files(own_directories: None) -> list[str]:
    """Arguments that name a closed database and a file with new options."""
    del own_directories
    Path("db").mkdir()
    Path("db/CURRENT").touch()
    Path("db/OPTIONS-000007").write_text(
        '[DBOptions]\nmax_background_jobs=2\n[CFOptions "default"]\nwrite_buffer_size=67108864\n'
    )
    Path("NEW").write_text(
        "[DBOptions]\nmax_background_jobs=3\nuse_fsync=true\n"
        '[CFOptions "default"]\nwrite_buffer_size=1M\ncompaction_style=kCompactionStyleUniversal\n'
    )
    return ["apply", "db", "--options-file", "NEW"]


def test_the_plan_is_printed_in_order(files: list[str], capsys: Outputs) -> None:
    assert main([*files, "--plan", "--device", "ssd-100mb"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    places = [
        printed.index(text)
        for text in ("live (SetDBOptions)", "live (SetOptions)", "at reopen", "by rewriting data")
    ]
    assert places == sorted(places)
    assert "67108864 → 1048576" in printed
    assert not Path("db/ROCKTUNE_OPTIONS").exists()


def test_the_live_part_is_written(files: list[str], capsys: Outputs) -> None:
    assert main(files) == 0
    printed = capsys.readouterr().out
    assert "Written: db/ROCKTUNE_OPTIONS" in printed
    assert "No process has the database open" in printed
    assert "max_background_jobs=3" in Path("db/ROCKTUNE_OPTIONS").read_text()


def test_json_is_one_document(files: list[str], capsys: Outputs) -> None:
    assert main([*files, "--watched-file", "elsewhere", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert [change["way"] for change in plan["changes"]] == [
        "live", "live", "at reopen", "by rewriting data",
    ]  # fmt: skip
    assert Path("elsewhere").exists()
    assert not Path("db/ROCKTUNE_OPTIONS").exists()


@pytest.mark.parametrize(
    ("function", "arguments"),
    [("copy_with_options", ["--migrate", "new"]), ("rewrite_with_options", ["--in-place"])],
)
def test_ctrl_c_says_how_to_continue(
    function: str,
    arguments: list[str],
    files: list[str],
    capsys: Outputs,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(api, function, interrupted)
    assert main([*files, *arguments]) == 130
    printed = capsys.readouterr().err
    assert printed.startswith("Interrupted. ")
    assert f"To continue: rocktune apply db --options-file NEW {' '.join(arguments)}\n" in printed


def test_ways_exclude_each_other(files: list[str], capsys: Outputs) -> None:
    assert main([*files, "--plan", "--migrate", "new"]) == 2
    assert "--plan and --migrate exclude each other" in capsys.readouterr().err


def test_a_directory_without_a_database_is_named(files: list[str], capsys: Outputs) -> None:
    Path("db/CURRENT").unlink()
    assert main(files) == 2
    assert "db: it holds no RocksDB database" in capsys.readouterr().err
