"""tools/apt-install with the machine's own apt-get and dpkg, on a package system of the test's own."""

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

APT_INSTALL = Path(__file__).parents[2] / "tools" / "apt-install"
LISTS_LOCK = "var/lib/apt/lists/lock"
FRONTEND_LOCK = "var/lib/dpkg/lock-frontend"
ARCHIVES_LOCK = "var/cache/apt/archives/lock"

pytestmark = pytest.mark.skipif(shutil.which("apt-get") is None, reason="this is not a Debian system")


class PackageSystem:
    """A Debian package system in a directory, whose one source offers the package `sample`.

    Attributes:
        root: the directory, which is dpkg's root too.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        for directory in (
            "etc/apt/apt.conf.d",
            "etc/apt/preferences.d",
            "var/lib/apt/lists/partial",
            "var/cache/apt/archives/partial",
            "var/lib/dpkg/info",
            "var/log/apt",
            "var/lib/dpkg/updates",
            "repository",
            "sample/DEBIAN",
            "bin",
        ):
            (root / directory).mkdir(parents=True)
        (root / "var/lib/dpkg/status").touch()
        self._offer_sample()
        dpkg_options = (
            f"--root={root}",
            "--force-not-root",
            "--force-bad-path",
            "--force-script-chrootless",
            "--log=/dev/null",
        )
        (root / "apt.conf").write_text(
            f'Dir "{root}";\n'
            f'Dir::State::status "{root}/var/lib/dpkg/status";\n'
            'Dir::Bin::dpkg "/usr/bin/dpkg";\n'
            'APT::Sandbox::User "";\n'
            "DPkg::Options {" + " ".join(f'"{option}";' for option in dpkg_options) + "};\n"
        )
        self.be_user(0)

    def _offer_sample(self) -> None:
        control = "Package: sample\nVersion: 1\nArchitecture: all\nMaintainer: nobody\nDescription: nothing\n"
        (self.root / "sample/DEBIAN/control").write_text(control)
        package = self.root / "repository/sample.deb"
        subprocess.run(
            ["dpkg-deb", "--root-owner-group", "--build", str(self.root / "sample"), str(package)],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        content = package.read_bytes()
        digest = hashlib.sha256(content).hexdigest()
        index = f"{control}Filename: ./sample.deb\nSize: {len(content)}\nSHA256: {digest}\n\n"
        (self.root / "repository/Packages").write_text(index)
        self.sources = self.root / "etc/apt/sources.list"
        self.sources.write_text(f"deb [trusted=yes] file:{self.root}/repository ./\n")

    def be_user(self, number: int) -> None:
        """Makes `id -u` print a number, so that the tests do the same whoever runs them."""
        program = self.root / "bin/id"
        program.write_text(f"#!/bin/sh\necho {number}\n")
        program.chmod(0o755)

    def start(
        self, *packages: str, lock_timeout_s: int = 60, path: str | None = None
    ) -> subprocess.Popen[str]:
        """Starts tools/apt-install."""
        return subprocess.Popen(
            ["/bin/bash", str(APT_INSTALL), *packages],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={
                "PATH": path or f"{self.root}/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                "APT_CONFIG": str(self.root / "apt.conf"),
                "DPKG_ADMINDIR": str(self.root / "var/lib/dpkg"),
                "APT_LOCK_TIMEOUT_S": str(lock_timeout_s),
            },
        )

    def run(self, *packages: str, lock_timeout_s: int = 60, path: str | None = None) -> tuple[int, str, str]:
        """Runs tools/apt-install; returns its exit status, stdout and stderr."""
        process = self.start(*packages, lock_timeout_s=lock_timeout_s, path=path)
        output, errors = process.communicate(timeout=60)
        return process.returncode, output, errors

    def installed(self) -> bool:
        """Whether dpkg has installed `sample`."""
        return "Status: install ok installed" in (self.root / "var/lib/dpkg/status").read_text()

    @contextmanager
    def locked(self, lock: str) -> Iterator[None]:
        """Holds a lock as another package manager would."""
        with (self.root / lock).open("w") as file:
            fcntl.lockf(file, fcntl.LOCK_EX)
            yield


@pytest.fixture
def system(tmp_path: Path) -> PackageSystem:
    return PackageSystem(tmp_path)


def test_installs_what_is_missing_and_then_has_nothing_to_do(system: PackageSystem) -> None:
    # There are no package lists at first, as on a new machine.
    assert system.run("sample") == (0, "Installing sample\n", "")
    assert system.installed()
    shutil.rmtree(system.root / "var/lib/apt")
    assert system.run("sample") == (0, "", "")


@pytest.mark.parametrize("lock", [LISTS_LOCK, FRONTEND_LOCK, ARCHIVES_LOCK])
def test_waits_for_each_lock_of_the_package_manager(system: PackageSystem, lock: str) -> None:
    with system.locked(lock):
        process = system.start("sample")
        assert process.stdout is not None
        assert process.stdout.readline() == "Installing sample\n"
        assert process.stdout.readline().startswith(
            f"Waiting for another package manager: {system.root}/{lock}. It is held by process {os.getpid()} "
        )
        assert process.poll() is None
        assert not system.installed()
    output, errors = process.communicate(timeout=60)
    assert (process.returncode, output, errors) == (0, "", "")
    assert system.installed()


def test_gives_up_waiting_with_one_line(system: PackageSystem) -> None:
    with system.locked(FRONTEND_LOCK):
        status, _, errors = system.run("sample", lock_timeout_s=1)
    assert status == 1
    assert errors.startswith(
        f"apt-install: gave up after 1 s without the lock {system.root}/{FRONTEND_LOCK}. "
        f"It is held by process {os.getpid()} "
    )
    assert errors.count("\n") == 1


def test_an_unknown_package_is_named_in_one_line(system: PackageSystem) -> None:
    assert system.run("sample", "no-such-package") == (
        1,
        "Installing sample no-such-package\n",
        "apt-install: apt-get install sample no-such-package: Unable to locate package no-such-package\n",
    )


def test_a_source_that_does_not_answer_is_named_in_one_line(system: PackageSystem) -> None:
    system.sources.write_text(f"deb [trusted=yes] file:{system.root}/gone ./\n")
    status, _, errors = system.run("sample")
    assert status == 1
    assert errors.startswith(
        "apt-install: apt-get install sample: Unable to locate package sample (apt-get update: "
    )
    assert f"{system.root}/gone" in errors
    assert errors.count("\n") == 1


def test_another_user_than_root_is_told_what_to_run(system: PackageSystem) -> None:
    system.be_user(1000)
    assert system.run("sample", "bash-is-not-here") == (
        2,
        "",
        "apt-install: Debian packages are missing; run: sudo apt-get install -y sample bash-is-not-here\n",
    )


def test_another_system_than_debian_is_told_what_is_needed(system: PackageSystem) -> None:
    assert system.run("sample", path=str(system.root / "bin")) == (
        2,
        "",
        "apt-install: apt-get is not here; on a system other than Debian, install as docs/install.md says\n",
    )
