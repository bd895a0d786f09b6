import os
import shlex
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import settings
from tests.servers import DatabaseServer, MariadbServer, PostgresqlServer

from rocktune.engine import OptionsChecker
from rocktune.engine.worker import WORKER_NAME, WORKER_VARIABLE, find_worker
from rocktune.errors import UserError
from rocktune.importing import LinkedRocksDb
from rocktune.testing.fake_worker import fake_worker_command

# No test depends on luck or on the machine's load.
settings.register_profile("rocktune", derandomize=True, deadline=None)
settings.load_profile("rocktune")

BUILDS = Path(__file__).parents[1] / "build"


@pytest.fixture(autouse=True)
def own_data_directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps tests away from what the user's own ledger and measured disks say."""
    # Not the fixture `monkeypatch`: the test's own changes would then last beyond its other fixtures.
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("XDG_DATA_HOME", str(tmp_path_factory.getbasetemp() / "user-data"))
        yield


@pytest.fixture(scope="session")
def real_worker() -> tuple[str, ...]:
    """The command of the real worker; skips only where none is built."""
    try:
        return find_worker()
    except UserError as failure:
        if "ROCKTUNE_WORKER" in os.environ:
            raise
        built = sorted(BUILDS.glob(f"*/{WORKER_NAME}"), key=lambda path: path.stat().st_mtime)
        if not built:
            pytest.skip(str(failure))
        return (str(built[-1]),)


@pytest.fixture(scope="module")
def linked(real_worker: tuple[str, ...]) -> Iterator[LinkedRocksDb]:
    """The RocksDB of the real worker. It ends with the module, since other tests look for stray processes."""
    with closing(OptionsChecker(real_worker)) as checker:
        yield checker.linked()


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[DatabaseServer]:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    server = PostgresqlServer()
    yield server
    server.remove()


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[DatabaseServer]:
    pytest.importorskip("pymysql", reason="pymysql is not installed")
    server = MariadbServer()
    yield server
    server.remove()


@pytest.fixture
def fake_worker_program(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets rocktune find the substitute of the worker instead of a real one."""
    program = tmp_path_factory.mktemp("worker") / "rocktune-worker"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(fake_worker_command())} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv(WORKER_VARIABLE, str(program))
