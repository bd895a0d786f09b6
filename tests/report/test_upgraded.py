"""The report of an upgrade."""

from pathlib import Path
from typing import Any

from rocktune.importing import Change, ChangeKind, StoreEffect, Upgrade
from rocktune.report import write_upgrade_report
from rocktune.report.upgraded import change_source, render_upgrade

HOSTILE = "<script>alert(1)</script>"


def change(kind: ChangeKind, **fields: str) -> Change:
    return Change(kind=kind, section="cf", source="history 8.4", **{"name": "compression", **fields})


def found(**proof: Any) -> dict[str, Any]:
    upgrade = Upgrade(
        path=HOSTILE,
        family=HOSTILE,
        from_version="8.3",
        to_version="11.8",
        changes=(
            change(
                ChangeKind.NEW_DEFAULT, before="kSnappyCompression", after="kLZ4Compression", note=HOSTILE
            ),
            change(ChangeKind.GONE, name="soft_rate_limit", before=HOSTILE, since="4.13"),
        ),
        effects=(
            StoreEffect(
                cause="table.format_version", effect="new tables", back=HOSTILE, source="history 9.0"
            ),
        ),
        new_options=("db.write_identity_file (9.7)",),
        disagreements=("They differ.",),
    )
    figure = {"value": 0.1, "low": 0.05, "high": 0.15, "repeats": 6}
    ratio = {"value": 1.2, "low": 1.1, "high": 1.3, "repeats": 6}
    nothing = {"value": None, "low": None, "high": None, "repeats": 0}
    figures = {
        "throughput_ops_s": {"old": figure, "new": figure, "ratio": ratio},
        "stalled_share": {"old": figure, "new": figure, "ratio": nothing},
    }
    said = {
        "verdict": "faster",
        "caution": HOSTILE,
        "engines": ["RocksDB 8.6.7", ""],
        "figures": figures,
        "disturbed_pairs": 0,
        "reason": "",
    }
    return {
        "upgrade": upgrade.model_dump(mode="json"),
        "notes": [HOSTILE],
        "study": HOSTILE,
        "workload": HOSTILE,
        "device": "none",
        "scale": "1/32",
        "seconds": 3.75,
        "pairs": 6,
        "rocksdb": ["8.6.7", "11.8.1"],
        "proof": {**said, "failures": [], **proof},
    }


def test_the_report_has_proof_changes_and_effects(tmp_path: Path) -> None:
    write_upgrade_report(tmp_path / "report.html", found())
    page = (tmp_path / "report.html").read_text()
    for text in (
        "<h1>RocksDB 11.8.1 is faster than 8.6.7: 1.20× the throughput (1.10× to 1.30×), on a 1/32 ",
        "RocksDB 8.3 to 11.8",
        "kSnappyCompression → kLZ4Compression",
        "New defaults, because the file leaves these options out",
        "<td>soft_rate_limit</td>",
        "4.13 (history 8.4)",
        "<td>format_version</td>",
        "db.write_identity_file (9.7)",
        "They differ.",
        # A share is in percent, and its ratio has no value.
        '10.0%<span class="interval">5.0% to 15.0%',
        '<td class="number"><span class="interval"></span></td>',
    ):
        assert text in page
    assert "Options whose value, or absence, means something else" not in page


def test_what_comes_from_outside_is_escaped() -> None:
    assert HOSTILE not in render_upgrade(found())
    failed = render_upgrade(found(failures=[HOSTILE], figures={}))
    assert HOSTILE not in failed
    assert "Nothing is proven: 1 of 12 runs failed." in failed


def test_a_source_that_names_the_release_is_enough() -> None:
    assert change_source(change(ChangeKind.GONE, since="8.4")) == "history 8.4"
    assert change_source(change(ChangeKind.GONE, since="8.4, 9.0")) == "8.4, 9.0 (history 8.4)"
    assert change_source(change(ChangeKind.MEASURED)) == "history 8.4"
