"""The page of a LOG."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.importing.logs.made import GOLDENS, HERE, TABLE, document, header, message

from rocktune.importing.logs import read_log
from rocktune.report.logged import render_log

HOSTILE = "<script>alert(1)</script>"


def figures(page: str) -> dict[str, dict[str, Any]]:
    """Returns the page's figures by their identifiers."""
    found = re.findall(r'<script type="application/json" id="(.*?)">(.*?)</script>', page)
    return {identifier: json.loads(text) for identifier, text in found}


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_goldens_have_figures_over_time(path: Path) -> None:
    drawn = figures(render_log(read_log([path])))
    assert {"delaysandstops0", "delaysandstops1"} & drawn.keys()
    levels = next(figure for name, figure in drawn.items() if name.startswith("levels"))
    assert levels["layout"]["xaxis"]["type"] == "date"
    for figure in drawn.values():
        for trace in figure["data"]:
            assert len(trace["x"]) == len(trace["y"]) > 0


def test_series_of_levels_and_write_amplification(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    text = header(0, "5.18.4")
    for second, files in ((10, 2), (20, 5), (30, 9)):
        text += message(second, "x").rstrip("\n") + TABLE.format(family="a").replace("2/1 ", f"{files}/1 ")
        text += f"Estimated pending compaction bytes: {files << 30}\n"
    path.write_text(text)
    drawn = figures(render_log(read_log([path])))
    sizes, files_of_level0 = drawn["levels0"], drawn["levels1"]
    assert sizes["data"][0]["name"] == "L0"
    assert sizes["data"][0]["y"] == [pytest.approx(36.10 / 1024, rel=1e-5)] * 3
    assert files_of_level0["data"][0]["y"] == [2, 5, 9]
    assert files_of_level0["data"][0]["x"][0] == "2026-03-04T10:00:10"
    assert drawn["pendingcompaction0"]["data"][0]["y"] == [2, 5, 9]
    assert drawn["writeamplification0"]["data"][0]["y"] == [1, 1, 1]


def test_stalls_are_drawn_from_begin_to_end() -> None:
    drawn = figures(render_log(document(HERE / "cases" / "stalls-of-three-families.log")))
    delayed, stopped = drawn["delaysandstops0"]["data"]
    assert (delayed["name"], stopped["name"]) == ("Delayed", "Stopped")
    assert stopped["y"] == ["by_owner", "by_owner", None]
    assert stopped["x"] == ["2026-03-04T10:48:27.213813", "2026-03-04T10:55:09.071271", None]
    rates = {trace["name"]: trace["y"] for trace in drawn["rateofdelayedwrites0"]["data"]}
    assert rates["blocks"] == [pytest.approx(4398044 / (1 << 20), rel=1e-5), 16 / 1024]


def test_foreign_text_is_escaped(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(
        header(0, HOSTILE)
        + message(1, f"[WARN] [{HOSTILE}] Stalling writes because we have 5 level-0 files rate 99")
        + message(2, f"[ERROR] {HOSTILE}")
        + message(3, "x").rstrip("\n")
        + TABLE.format(family=HOSTILE)
    )
    page = render_log(read_log([path]))
    assert HOSTILE not in page
    assert HOSTILE.replace("<", "&lt;").replace(">", "&gt;") in page


def test_a_page_of_several_openings_has_unique_figures(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    stall = "[WARN] [a] Stalling writes because we have 5 level-0 files rate 99"
    path.write_text("".join(header(at, f"9.9.{at}") + message(at, stall) for at in range(25)))
    page = render_log(read_log([path]))
    assert len(re.findall('id="delaysandstops', page)) == 20
    assert len(figures(page)) == len(re.findall("data-figure=", page))
    assert "RocksDB 9.9.24" in page
    assert "RocksDB 9.9.4," not in page
    assert "shows the last 20 openings of the database; 5 come before" in page


def test_what_was_left_out_is_said(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    path.write_text(message(0, "[WARN] w") * 1000)
    assert "Of 1000 warnings and errors 400 are kept" in render_log(read_log([path]))


def test_levels_of_the_largest_families_alone(tmp_path: Path) -> None:
    path = tmp_path / "LOG"
    tables = "".join(TABLE.format(family=f"f{at}").replace("36.10 MB", f"{1 + at}.00 MB") for at in range(23))
    path.write_text(message(0, "x").rstrip() + tables)
    page = render_log(read_log([path]))
    assert page.count("<h2>Levels of ") == 20
    assert "Levels of &#x27;f2&#x27;" not in page
    assert "Levels of &#x27;f3&#x27;" in page
    assert "3 smaller families are not shown" in page
