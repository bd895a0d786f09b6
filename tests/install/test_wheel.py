"""The wheel of `make wheel`: what is in it, and that it works in an environment that has nothing else."""

import json
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

pytestmark = [pytest.mark.wheel, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
GLIBC = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
LICENCES = {"rocksdb", "nanobind", "nlohmann-json3-dev"}
LICENCES |= {"libsnappy-dev", "liblz4-dev", "libzstd-dev", "zlib1g-dev"}
QUICK = ["--workload", "dremel-write-heavy", "--device", "ssd-100mb", "--scale", "1/512"]

Rocktune = Callable[..., Any]


@pytest.fixture(scope="module")
def wheel() -> Path:
    """The wheel for this Python."""
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    wheels = sorted((ROOT / "dist").glob(f"rocktune-*-{tag}-*.whl"))
    if not wheels:
        pytest.skip("there is no wheel in dist/: it needs the release build of RocksDB; run 'make wheel'")
    (found,) = wheels
    return found


@pytest.fixture(scope="module")
def natives(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The worker and the extension, unpacked."""
    folder = tmp_path_factory.mktemp("unpacked")
    with ZipFile(wheel) as archive:
        archive.extractall(folder)
    return [*folder.glob("rocktune-*.data/scripts/rocktune-worker"), *folder.glob("rocktune/_native.*.so")]


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel and what its metadata asks for."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", wheel], check=True)
    return folder


@pytest.fixture
def rocktune(environment: Path, tmp_path: Path) -> Rocktune:
    """Calls the installed command in an empty directory and returns what it prints as JSON."""

    def call(*arguments: str) -> Any:
        finished = subprocess.run(
            [environment / "bin/rocktune", *arguments, "--json"],
            capture_output=True, text=True, check=False, cwd=tmp_path,
            env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
        )  # fmt: skip
        assert finished.returncode == 0, finished.stdout[-2000:] + finished.stderr[-2000:]
        return json.loads(finished.stdout)

    (tmp_path / "home").mkdir()
    return call


def test_its_natives_need_glibc_and_what_the_wheel_has(natives: list[Path], wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        carried = {Path(name).name for name in archive.namelist() if name.startswith("rocktune.libs/lib")}
    worker, extension = natives
    needed = {native: _in_dynamic_section(native, "NEEDED") for native in natives}
    assert needed[worker]
    assert needed[worker] <= GLIBC
    assert needed[extension] <= GLIBC | carried
    assert {name.split("-")[0] for name in carried} <= {"libzstd"}
    for native in natives:  # no path of the machine that built them
        paths = _in_dynamic_section(native, "RPATH") | _in_dynamic_section(native, "RUNPATH")
        assert paths <= {"$ORIGIN/../rocktune.libs"}


def _in_dynamic_section(native: Path, tag: str) -> set[str]:
    dynamic = subprocess.check_output(["readelf", "--dynamic", native], text=True)
    return set(re.findall(rf"\({tag}\).*\[(.+)\]", dynamic))


def test_its_natives_are_stripped(natives: list[Path]) -> None:
    for native in natives:
        sections = subprocess.check_output(["readelf", "--sections", "--wide", native], text=True)
        assert ".dynsym" in sections
        assert ".symtab" not in sections
        assert ".debug" not in sections


def test_its_tag_metadata_and_licences(wheel: Path) -> None:
    assert re.search(r"-manylinux_\d+_\d+_(x86_64|aarch64)\.whl$", wheel.name)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    with ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"rocktune-{project['version']}.dist-info/METADATA").decode()
    required = {line.removeprefix("Requires-Dist: ") for line in re.findall("Requires-Dist: .*", metadata)}
    assert {line for line in required if "extra ==" not in line} == set(project["dependencies"])
    assert {name.split("/")[2] for name in names if "/licenses/" in name} - {"LICENSE", ""} == LICENCES
    assert not [name for name in names if "__pycache__" in name or "/tests/" in name]


def test_the_worker_starts_by_itself_and_maps_no_other_library(environment: Path) -> None:
    worker = environment / "bin/rocktune-worker"
    with subprocess.Popen([worker], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        hello = json.loads(process.stdout.readline())
        maps = Path(f"/proc/{process.pid}/maps").read_text()
        process.kill()
    assert hello["assertions"] is False
    compressions = {"kSnappyCompression", "kLZ4Compression", "kZSTD", "kZlibCompression"}
    assert compressions <= set(hello["compressions"])
    assert {Path(path).name for path in re.findall(r"\S+\.so\S*$", maps, re.MULTILINE)} <= GLIBC


def test_the_extension_is_of_the_same_rocksdb(environment: Path, rocktune: Rocktune) -> None:
    program = (
        "import rocktune._native as native; print(native.rocksdb_version(), open('/proc/self/maps').read())"
    )
    printed = subprocess.check_output([environment / "bin/python", "-c", program], text=True)
    assert "librocksdb" not in printed
    check = next(check for check in rocktune("doctor") if check["check"] == "rocksdb")
    assert check["ok"]
    assert check["detail"] == f"RocksDB {printed.split()[0]} by {environment / 'bin/rocktune-worker'}"


def test_it_runs_and_tunes(rocktune: Rocktune, tmp_path: Path) -> None:
    assert "assertions off" in rocktune("run", *QUICK, "--seconds", "1")["engine"]
    outcome = rocktune("tune", *QUICK, "--protocol", "short", "--budget", "6s", "--out", "out")
    assert outcome["ratio_to_baseline"]["value"] > 0
    assert (tmp_path / "out/OPTIONS").exists()
    assert (tmp_path / "out/report.html").exists()
