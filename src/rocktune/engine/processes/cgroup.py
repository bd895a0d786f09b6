"""Limits on a block device for one program and its children, by a cgroup of Linux (version 1 or 2).

A cgroup counts what reaches the block device, reads and writes apart: each may use the device's whole
bandwidth and operations. What the page cache answers or takes is not counted, so the store has to go round it
(`DIRECT_IO_OPTIONS`).
"""

import itertools
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rocktune.device import DeviceSpec
from rocktune.errors import UserError

DIRECT_IO_OPTIONS = {
    "use_direct_reads": "true",
    "use_direct_io_for_flush_and_compaction": "true",
    # The log cannot be written directly. Written back in small pieces by the thread that wrote it, and
    # waited for, it counts as that thread's.
    "wal_bytes_per_sync": str(256 << 10),
    "strict_bytes_per_sync": "true",
}
"""RocksDB's database options with which its I/O reaches the device, where a cgroup limits it."""

_PREFIX = "rocktune-"
_END_TRIES = 50
_END_PAUSE_S = 0.02
_numbers = itertools.count()


@dataclass(frozen=True)
class Kernel:
    """Where the kernel shows itself; another place in tests."""

    cgroups: Path = Path("/sys/fs/cgroup")
    devices: Path = Path("/sys/dev/block")
    own_cgroups: Path = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class DeviceCgroup:
    """A place where cgroups with a device's limits can be made.

    Attributes:
        parent: directory in which they are made.
        limits: (file, text) to write into each.
    """

    parent: Path
    limits: tuple[tuple[str, str], ...]

    @contextmanager
    def entered(self) -> Iterator[Sequence[str]]:
        """Makes a cgroup; yields the program and arguments that run a program in it; then removes it.

        Raises:
            UserError: the kernel refuses a limit.
        """
        cgroup = self.parent / f"{_PREFIX}{os.getpid()}-{next(_numbers)}"
        try:
            cgroup.mkdir()
            for name, text in self.limits:
                (cgroup / name).write_text(text)
        except OSError as failure:
            _remove(cgroup)
            raise UserError(f"device: cgroup {cgroup}: {failure.strerror}; use device 'none'") from None
        try:
            script = Path(__file__).with_name("enter_cgroup.py")
            yield (sys.executable, "-I", "-S", str(script), str(cgroup / "cgroup.procs"))
        finally:
            _remove(cgroup)


def device_cgroup(device: DeviceSpec, directory: Path, kernel: Kernel | None = None) -> DeviceCgroup:
    """Finds where the block device under a directory can be limited, and how.

    Args:
        device: at least one of bandwidth and operations is limited.
        directory: of the store.
        kernel: where the kernel shows itself.

    Raises:
        UserError: there is no block device or no controller, or it is not permitted.
    """
    kernel = kernel or Kernel()
    try:
        number = _block_device(directory, kernel)
        parent = _unified_parent(kernel)
        limits = _io_max(device, number)
        if parent is None:
            parent, limits = _blkio_parent(kernel), _blkio_throttle(device, number)
        if not os.access(parent, os.W_OK):
            raise UserError(f"not permitted to make a cgroup in {parent}; run as root")
    except UserError as missing:
        raise UserError(
            f"device '{device.name}': cannot be limited: {missing}, or use device 'none'"
        ) from None
    _remove_abandoned(parent)
    return DeviceCgroup(parent, limits)


def _block_device(directory: Path, kernel: Kernel) -> str:
    """Returns the number ("8:0") of the whole block device that holds a directory."""
    number = directory.stat().st_dev
    device = kernel.devices / f"{os.major(number)}:{os.minor(number)}"
    if not device.exists():
        raise UserError(f"{directory} lies on no block device (a RAM disk?); name another data directory")
    if (device / "partition").exists():
        # Limits are those of a whole device.
        return (device.resolve().parent / "dev").read_text().strip()
    return device.name


def _unified_parent(kernel: Kernel) -> Path | None:
    """Returns the nearest ancestor of our own cgroup whose children have the controller "io"; version 2."""
    root = next(
        (
            each
            for each in (kernel.cgroups, kernel.cgroups / "unified")
            if (each / "cgroup.controllers").exists()
        ),
        None,
    )
    if root is None:
        return None
    own = root / _own_cgroup(kernel, "").lstrip("/")
    for place in (own, *own.parents):
        given = place / "cgroup.subtree_control"
        if place.is_relative_to(root) and given.exists() and "io" in given.read_text().split():
            return place
    return None


def _blkio_parent(kernel: Kernel) -> Path:
    """Returns our own cgroup of the controller "blkio"; version 1."""
    root = kernel.cgroups / "blkio"
    if not (root / "cgroup.procs").exists():
        raise UserError(
            "no cgroup has the controller 'io' (version 2) or 'blkio' (version 1); have root write +io to "
            f"{kernel.cgroups / 'cgroup.subtree_control'}"
        )
    own = root / _own_cgroup(kernel, "blkio").lstrip("/")
    # In a container the path may be that of the host.
    return own if own.is_dir() else root


def _own_cgroup(kernel: Kernel, controller: str) -> str:
    for line in kernel.own_cgroups.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return "/"


def _io_max(device: DeviceSpec, number: str) -> tuple[tuple[str, str], ...]:
    limits = [
        f"{side}{unit}={amount}"
        for unit, amount in (("bps", device.bandwidth_bytes_s), ("iops", device.iops))
        if amount
        for side in ("r", "w")
    ]
    return (("io.max", f"{number} {' '.join(limits)}"),)


def _blkio_throttle(device: DeviceSpec, number: str) -> tuple[tuple[str, str], ...]:
    return tuple(
        (f"blkio.throttle.{side}_{unit}_device", f"{number} {amount}")
        for unit, amount in (("bps", device.bandwidth_bytes_s), ("iops", device.iops))
        if amount
        for side in ("read", "write")
    )


def _remove(cgroup: Path) -> None:
    """Removes a cgroup; the kernel lets go of what has ended in it after a moment."""
    for _ in range(_END_TRIES):
        with suppress(FileNotFoundError):
            try:
                cgroup.rmdir()
            except OSError:
                time.sleep(_END_PAUSE_S)
                continue
        return


def _remove_abandoned(parent: Path) -> None:
    """Removes the cgroups of drivers that were killed."""
    for cgroup in parent.glob(f"{_PREFIX}*-*"):
        driver = cgroup.name.removeprefix(_PREFIX).partition("-")[0]
        if driver.isdigit() and not Path("/proc", driver).exists():
            with suppress(OSError):
                cgroup.rmdir()
