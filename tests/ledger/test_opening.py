import multiprocessing
import re
import sqlite3
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import make_url

from rocktune.errors import TransientError, UserError
from rocktune.ledger import default_ledger_url, open_ledger, opening, schema
from rocktune.ledger.opening import MIGRATIONS, _without_passwords, masked_url, open_database


def refusal(url: str) -> str:
    """Returns the one line with which a URL is refused."""
    with pytest.raises(UserError) as error:
        open_ledger(url)
    assert "\n" not in str(error.value)
    return str(error.value)


def open_once(path: str) -> int:
    with open_ledger(path) as ledger:
        return len(ledger.studies())


class TestWhere:
    @pytest.mark.parametrize("url", ["", " "])
    def test_an_empty_url_is_not_the_users_own_ledger(self, url: str) -> None:
        assert refusal(url) == "ledger: the URL is empty; give one, or leave it out for your own ledger"

    def test_the_default_is_a_file_in_the_user_s_data_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
        assert default_ledger_url() == f"sqlite:///{tmp_path}/data/rocktune/ledger.sqlite"
        with open_ledger(None) as ledger:
            assert ledger.url == default_ledger_url()
        assert (tmp_path / "data" / "rocktune" / "ledger.sqlite").exists()

    def test_a_path_and_a_url_mean_the_same_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with open_ledger("here.sqlite") as ledger:
            ledger.create_study("study", {})
        for url in (
            "sqlite:///here.sqlite",
            f"sqlite:///{tmp_path}/here.sqlite",
            str(tmp_path / "here.sqlite"),
        ):
            with open_ledger(url) as ledger:
                assert [study.name for study in ledger.studies()] == ["study"]

    def test_passwords_are_masked(self) -> None:
        url = make_url("postgresql://me:secret@host/db?sslpassword=secret&connect_timeout=3&passwd=secret")
        assert "secret" not in masked_url(url)
        assert "connect_timeout=3" in masked_url(url)

    def test_passwords_are_masked_in_whatever_a_driver_says(self) -> None:
        url = make_url("postgresql://me:p%40ss%3Aw%2Frd%25@host/db?sslpassword=o%26%3D+ther")
        forms = ("p@ss:w/rd%", "p%40ss%3Aw%2Frd%25", "p%40ss%3Aw/rd%25", "o&= ther", "o%26%3D%20ther")
        for form in (*forms, "o%26%3D+ther"):
            assert _without_passwords(f"cannot take {form}, sorry", url) == "cannot take ***, sorry"

    def test_the_ledger_s_text_names_its_file(self, tmp_path: Path) -> None:
        with open_ledger(str(tmp_path / "x.sqlite")) as ledger:
            assert repr(ledger) == f"Ledger('sqlite:///{tmp_path}/x.sqlite')"


class TestRefusals:
    def test_no_url(self) -> None:
        assert "malformed URL" in refusal("postgresql://me:secret@host:port/db")
        assert "secret" not in refusal("postgresql://me:secret@host:port/db")

    def test_an_at_sign_in_a_password_is_never_taken_for_the_host_s(self) -> None:
        for url in (
            "postgresql://me:se@cret@host/db",
            "postgresql://me:se@cret/word@host/db",
            "mariadb://me:se?cret@word@host/db",
        ):
            line = refusal(url)
            assert "as %40" in line
            assert "cret" not in line
            assert "word" not in line.replace("password", "")

    def test_memory_is_no_ledger(self) -> None:
        assert "needs a file" in refusal("sqlite://")
        assert "needs a file" in refusal("sqlite:///:memory:")

    def test_an_unknown_database(self) -> None:
        assert "unknown kind of database 'mongodb'" in refusal("mongodb://me:secret@host/db")

    def test_a_missing_driver(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pymysql", None)
        assert "mysql needs the Python package 'pymysql'" in refusal("mysql://me:secret@host/db")

    def test_a_driver_that_does_not_load(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(*_: object, **__: object) -> None:
            raise ImportError("no pq wrapper available.\nAttempts made: ...")

        monkeypatch.setattr(opening, "create_engine", fail)
        line = refusal("postgresql://me:secret@host/db")
        problem = "no pq wrapper available. Attempts made: ..."
        assert line == f"ledger: the driver postgresql+psycopg cannot be loaded: {problem}"

    def test_an_unreachable_server(self) -> None:
        pytest.importorskip("psycopg", reason="psycopg is not installed")
        line = refusal("postgresql://me:secret@127.0.0.1:1/db")
        assert line.startswith("ledger postgresql+psycopg://me:***@127.0.0.1:1/db: ")
        assert "secret" not in line

    def test_a_database_that_is_busy_may_answer_later(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(opening, "_BUSY_TIMEOUT_S", 0.0)
        path = str(tmp_path / "ledger.sqlite")
        open_ledger(path).close()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with open_ledger(path) as ledger, pytest.raises(TransientError, match="database is locked"):
            ledger.create_study("busy", {}, "")
        other.close()

    def test_a_missing_directory_is_not_made(self, tmp_path: Path) -> None:
        assert "does not exist" in refusal(str(tmp_path / "missing" / "x.sqlite"))
        assert list(tmp_path.iterdir()) == []

    def test_a_file_that_is_no_database(self, tmp_path: Path) -> None:
        file = tmp_path / "notes.txt"
        file.write_text("not a database " * 100)
        assert "file is not a database" in refusal(str(file))
        assert file.read_text() == "not a database " * 100

    def test_another_program_s_database(self, tmp_path: Path) -> None:
        file = tmp_path / "other.sqlite"
        with sqlite3.connect(file) as connection:
            connection.execute("CREATE TABLE albums (id INTEGER)")
        connection.close()
        before = file.read_bytes()
        assert "belongs to another program (it has a table 'albums')" in refusal(str(file))
        assert file.read_bytes() == before
        assert list(tmp_path.iterdir()) == [file]

    def test_a_newer_schema(self, tmp_path: Path) -> None:
        file = tmp_path / "x.sqlite"
        open_ledger(str(file)).close()
        with sqlite3.connect(file) as connection:
            connection.execute(f"UPDATE {schema.VERSION_TABLE} SET version_num = '9999'")
        connection.close()
        assert "written by a newer rocktune" in refusal(str(file))

    @pytest.mark.parametrize("name", ["", "  ", "x" * 201])
    def test_what_is_no_study_s_name(self, tmp_path: Path, name: str) -> None:
        with open_ledger(str(tmp_path / "x.sqlite")) as ledger:
            with pytest.raises(UserError, match="a name has 1 to 200 characters"):
                ledger.create_study(name, {})
            assert ledger.studies() == []


class TestSchema:
    def test_migrations_make_what_the_code_expects(self, tmp_path: Path) -> None:
        engine = open_database(str(tmp_path / "x.sqlite"), create=True)
        with engine.connect() as connection:
            context = MigrationContext.configure(
                connection, opts={"compare_type": True, "version_table": schema.VERSION_TABLE}
            )
            assert compare_metadata(context, schema.metadata) == []
            names = r"CONSTRAINT (\w+) UNIQUE"
            made = connection.exec_driver_sql("SELECT group_concat(sql) FROM sqlite_master").scalar_one()
        engine.dispose()
        assert "uq_measurements_study_id_configuration_id_replicate_until_s" in re.findall(names, made)

    def test_the_newest_migration_is_the_schema_s_version(self) -> None:
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS))
        assert ScriptDirectory.from_config(config).get_current_head() == schema.SCHEMA_VERSION


class TestConcurrency:
    def test_several_processes_may_make_the_ledger_at_once(self, tmp_path: Path) -> None:
        with multiprocessing.get_context("spawn").Pool(3) as pool:
            assert pool.map(open_once, [str(tmp_path / "x.sqlite")] * 6) == [0] * 6


def test_a_ledger_that_is_only_read_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"):
        open_ledger(str(tmp_path / "typo.sqlite"), create=False)
    assert list(tmp_path.iterdir()) == []
