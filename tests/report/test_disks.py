"""Disks that are unlike a study's device are named with what differs."""

from rocktune.device import MeasuredDisk, load_device
from rocktune.report import disk_notes

DEVICE = load_device("ssd-100mb")


def note_of(directory: str = "/srv/db", **figures: int) -> str:
    device = DEVICE.model_copy(update=figures)
    disk = MeasuredDisk(machine="m", directory=directory, date="2026-11-26", device=device)
    (note,) = disk_notes(DEVICE, (disk,))
    return note


def test_a_note_names_the_figures_that_differ_and_the_way_out() -> None:
    note = note_of(bandwidth_bytes_s=50 << 20, sync_latency_us=9000)
    assert note.startswith("Device ssd-100mb is unlike the disk under /srv/db, measured on 2026-11-26: ")
    assert "bandwidth 50MiB/s there, " in note
    assert "operations per second" not in note
    assert note.endswith(
        "`rocktune device measure /srv/db --out my-disk.toml` and tune with `--device my-disk.toml`."
    )


def test_strange_directories_do_not_break_the_sentence() -> None:
    assert "measure '/my disk' --out" in note_of("/my disk", iops=3)
    for strange in ("a\nb", "a`b"):
        assert strange not in note_of(strange, iops=3)
        assert "under DIR, measured" in note_of(strange, iops=3)
