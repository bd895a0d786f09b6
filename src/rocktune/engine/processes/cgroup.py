"""Limits a block device for one program and its children, by a Linux cgroup (version 1 or 2).

A cgroup limits the I/O that reaches the block device. Reads and writes have separate limits: each may use the
whole bandwidth and all operations of the device. I/O that the page cache absorbs is not limited, so the store
has to bypass the page cache (`DIRECT_IO_OPTIONS`).
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
    # RocksDB has no direct I/O for the WAL. If the writing thread syncs it in small pieces and waits for
    # them, the kernel attributes the writes to that thread's cgroup.
    "wal_bytes_per_sync": str(256 << 10),
    "strict_bytes_per_sync": "true",
}
"""RocksDB options in section "db" that make its I/O reach the device, where a cgroup can limit it."""

_PREFIX = "rocktune-"
# 50 tries of 20 ms: the kernel frees an ended process' cgroup within a second, or it is stuck.
_END_TRIES = 50
_END_PAUSE_S = 0.02
_numbers = itertools.count()


@dataclass(frozen=True)
class Kernel:
    """Paths of the kernel's file systems; tests use others.

    Attributes:
        cgroups: where cgroups are mounted.
        devices: a directory with an entry "MAJOR:MINOR" for each block device.
        own_cgroups: the file that names the cgroups of this process.
    """

    cgroups: Path = Path("/sys/fs/cgroup")
    devices: Path = Path("/sys/dev/block")
    own_cgroups: Path = Path("/proc/self/cgroup")


@dataclass(frozen=True)
class DeviceCgroup:
    """A recipe for cgroups that limit one device.

    Attributes:
        parent: directory in which the cgroups are made.
        limits: (file name, text) pairs to write into each new cgroup.
    """

    parent: Path
    limits: tuple[tuple[str, str], ...]

    @contextmanager
    def entered(self) -> Iterator[Sequence[str]]:
        """Makes a cgroup for the context and removes it afterwards.

        Yields:
            A command prefix: the command that follows it runs in the cgroup.

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
    """Returns the cgroups that limit the block device which holds a directory.

    It also removes cgroups that killed drivers left.

    Args:
        device: the limits; at least one of bandwidth and operations per second is limited.
        directory: directory of the store.
        kernel: see `Kernel`.

    Raises:
        UserError: the directory lies on no block device, there is no cgroup controller for I/O, or this user
            may not make cgroups.
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
    """Returns the "MAJOR:MINOR" of the whole block device that holds a directory."""
    number = directory.stat().st_dev
    device = kernel.devices / f"{os.major(number)}:{os.minor(number)}"
    if not device.exists():
        raise UserError(f"{directory} lies on no block device (a RAM disk?); name another data directory")
    if (device / "partition").exists():
        # The kernel accepts limits only for whole devices, not for partitions.
        return (device.resolve().parent / "dev").read_text().strip()
    return device.name


def _unified_parent(kernel: Kernel) -> Path | None:
    """Returns the nearest cgroup (version 2) from our own upwards whose children have the controller "io".

    Returns None if no cgroups of version 2 are mounted or none has the controller.
    """
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
    for cgroup in (own, *own.parents):
        controllers = cgroup / "cgroup.subtree_control"
        if cgroup.is_relative_to(root) and controllers.exists() and "io" in controllers.read_text().split():
            return cgroup
    return None


def _blkio_parent(kernel: Kernel) -> Path:
    """Returns our own cgroup (version 1) of the controller "blkio".

    Raises:
        UserError: neither version of cgroups can limit I/O here.
    """
    root = kernel.cgroups / "blkio"
    if not (root / "cgroup.procs").exists():
        raise UserError(
            "no cgroup has the controller 'io' (version 2) or 'blkio' (version 1); as root, write +io to "
            f"{kernel.cgroups / 'cgroup.subtree_control'}"
        )
    own = root / _own_cgroup(kernel, "blkio").lstrip("/")
    # In a container, /proc/self/cgroup may give a path of the host that is not mounted here.
    return own if own.is_dir() else root


def _own_cgroup(kernel: Kernel, controller: str) -> str:
    """Returns the path of our cgroup for a controller; "" names version 2."""
    for line in kernel.own_cgroups.read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return "/"


def _io_max(device: DeviceSpec, number: str) -> tuple[tuple[str, str], ...]:
    """Returns the limits of version 2, as (file name, text)."""
    limits = [
        f"{side}{unit}={amount}"
        for unit, amount in (("bps", device.bandwidth_bytes_s), ("iops", device.iops))
        if amount
        for side in ("r", "w")
    ]
    return (("io.max", f"{number} {' '.join(limits)}"),)


def _blkio_throttle(device: DeviceSpec, number: str) -> tuple[tuple[str, str], ...]:
    """Returns the limits of version 1, as (file name, text)."""
    return tuple(
        (f"blkio.throttle.{side}_{unit}_device", f"{number} {amount}")
        for unit, amount in (("bps", device.bandwidth_bytes_s), ("iops", device.iops))
        if amount
        for side in ("read", "write")
    )


def _remove(cgroup: Path) -> None:
    """Removes a cgroup. Retries for a second, because the kernel releases ended processes with a delay."""
    for _ in range(_END_TRIES):
        with suppress(FileNotFoundError):
            try:
                cgroup.rmdir()
            except OSError:
                time.sleep(_END_PAUSE_S)
                continue
        return


def _remove_abandoned(parent: Path) -> None:
    """Removes the cgroups of drivers that were killed, recognised by the process id in their names."""
    for cgroup in parent.glob(f"{_PREFIX}*-*"):
        driver = cgroup.name.removeprefix(_PREFIX).partition("-")[0]
        if driver.isdigit() and not Path("/proc", driver).exists():
            with suppress(OSError):
                cgroup.rmdir()
