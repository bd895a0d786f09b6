"""What `rocktune watch` prints; the watch itself is tested in tests/api."""

from pathlib import Path

import pytest

from rocktune.cli.main import main
from rocktune.ledger import open_ledger

Outputs = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--study", "s"], "log: missing; name the LOG in the database's directory with --log"),
        (["--study", "s", "--log", "LOG"], "log: LOG is not the LOG in the directory of a RocksDB database"),
        (["--study", "s", "--log", "x" * 300], "File name too long"),
        (["--study", "s", "--log", "loop/LOG"], "log: loop/LOG cannot be read: "),
        (["--study", "s", "--journal"], "there is no journal; no watch has this name"),
        (["--study", "s", "--log", "db/LOG", "--interval", "0.1"], "interval: 0.1 is below 1 s"),
        (["--study", "s", "--log", "db/LOG", "--interval", "9999999h"], "interval: 9999999h is above a week"),
        (["--study", "s", "--log", "db/LOG", "--budget", "x"], "budget: 'x' is not a duration above 0"),
        (["--study", "s", "--log", "db/LOG"], "has no study yet"),
    ],
)
def test_mistakes_are_named(
    own_directories: None, capsys: Outputs, arguments: list[str], message: str
) -> None:
    del own_directories
    Path("db").mkdir()
    Path("db/CURRENT").touch()
    Path("db/LOG").touch()
    Path("loop").symlink_to("loop")
    assert main(["watch", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_name_that_is_no_utf8_is_an_error_of_the_user(own_directories: None, capsys: Outputs) -> None:
    del own_directories
    Path("db").mkdir()
    for name in ("CURRENT", "LOG"):
        Path("db", name).touch()
    with open_ledger("l.sqlite"):
        pass
    assert main(["watch", "--study", "a\udcff", "--log", "db/LOG", "--ledger", "l.sqlite"]) == 2
    assert "it is no UTF-8 text" in capsys.readouterr().err


def test_an_flsm_store_is_refused(own_directories: None, capsys: Outputs) -> None:
    del own_directories
    Path("db").mkdir()
    for name in ("CURRENT", "LOG", "FLSM"):
        Path("db", name).touch()
    assert main(["watch", "--study", "s", "--log", "db/LOG"]) == 2
    assert "it is an FLSM store, whose controller sets its options" in capsys.readouterr().err
