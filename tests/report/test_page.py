import base64
import hashlib
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import plotly.graph_objects as go
import pytest
from tests.report import sample

from rocktune.outcome import Outcome
from rocktune.report import figures, render_report, write_report
from rocktune.trial import Configuration

HOSTILE = "<script>alert(1)</script>"
URL_ATTRIBUTES = {"src", "href", "action", "data", "srcset", "poster"}
VOID = {"meta", "link", "wbr", "br"}


class Page(HTMLParser):
    """Collects what the tests ask about, and checks that elements nest."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.scripts: dict[str, str] = {}
        self.code: list[str] = []
        self.handlers: list[str] = []
        self.headings: list[str] = []
        self.policy = ""
        self.text = ""
        self._open: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.urls += [value or "" for name, value in attrs if name in URL_ATTRIBUTES]
        self.handlers += [name for name in named if name.startswith("on")]
        if named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"] or ""
        if tag not in VOID:
            self._open.append((tag, named))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tag, attributes = self._open[-1] if self._open else ("", {})
        if tag == "script" and attributes.get("type") == "application/json":
            self.scripts[str(attributes["id"])] = data
        elif tag == "script":
            self.code.append(data)
        elif tag != "style":
            self.text += data
            if tag == "h2":
                self.headings.append(data)


@pytest.fixture(scope="module")
def page() -> Page:
    return Page(render_report(sample.study(), sample.outcome(), sample.trials(), sample.arms()))


def test_page_shows_every_section_in_reading_order(page: Page) -> None:
    assert page.headings == [
        "What to do",
        "What changed",
        "Side by side",
        "The search",
        "Dremel's arms",
        "Throughput over a run",
        "Latency",
        "Device traffic",
        "Trials",
        "How to reproduce",
    ]


def test_page_reaches_for_nothing_outside_itself(page: Page) -> None:
    assert page.urls == ["data:,"]
    assert "default-src 'none'" in page.policy


def test_policy_allows_exactly_the_scripts_of_the_page(page: Page) -> None:
    digests = {base64.b64encode(hashlib.sha256(code.encode()).digest()).decode() for code in page.code}
    assert set(re.findall(r"'sha256-([^']+)'", page.policy)) == digests
    assert len(digests) == 2


def test_every_string_from_outside_is_escaped() -> None:
    document = sample.document(HOSTILE)
    for name in ("workload", "device", "space", "tuner", "engine", "ledger", "options_file", "report"):
        document[name] = HOSTILE
    document["options_that_matter"][0] |= {
        "option": HOSTILE,
        "from": HOSTILE,
        "to": HOSTILE,
        "effect": HOSTILE,
    }
    trials = sample.trials()
    hostile = trials[0].__class__(
        **{
            **vars(trials[0]),
            "phase": HOSTILE,
            "message": HOSTILE,
            "trial": trials[0].trial.__class__(Configuration({HOSTILE: HOSTILE}), 1.0),
        }
    )
    arms = [
        {**arm, "buckets": {HOSTILE if n == "read_sstable_cost" else n: b for n, b in arm["buckets"].items()}}
        for arm in sample.arms()
    ]
    study = sample.study(HOSTILE)
    study = study.__class__(**{**vars(study), "host": HOSTILE, "spec": {"workload": {"name": HOSTILE}}})
    page = Page(render_report(study, Outcome.from_json(document), [hostile, *trials], arms))
    assert len(page.code) == 2
    assert page.handlers == []
    assert page.text.count("alert(1)") >= 12
    assert all("<script" not in data for data in page.scripts.values())


def test_long_names_do_not_squeeze_the_table_of_changed_options() -> None:
    document = sample.document()
    document["options_that_matter"][0] |= {
        "from": "kCompactionStyleLevel",
        "to": "kCompactionStyleUniversal",
        "together_with": ["level0_file_num_compaction_trigger"],
    }
    page = render_report(sample.study(), Outcome.from_json(document), sample.trials())
    assert 'class="change">kCompaction<wbr>Style<wbr>Level → kCompaction<wbr>Style<wbr>Universal<' in page
    verdict = "helps, together with level0_<wbr>file_<wbr>num_<wbr>compaction_<wbr>trigger"
    assert f'<td class="verdict"><span class="mark">{verdict}<' in page
    assert "MiB" in page
    assert "Mi<wbr>B" not in page


def test_page_of_an_unproven_gain_recommends_the_baseline() -> None:
    page = Page(render_report(sample.study(), sample.undecided_outcome(), sample.trials()))
    assert "No proven gain" in page.text
    assert "Keep the baseline" in page.text
    assert "The interval contains 1" in page.text
    assert "debug build" not in page.text
    assert "at full size" in page.text


def test_page_without_any_trial_or_figure_is_still_a_page() -> None:
    empty = sample.unproven_outcome(verified_at_scale=None, options_that_matter=[])
    page = Page(render_report(sample.study("empty"), empty, []))
    assert "No configuration could be compared" in page.text
    assert page.code == []


def test_trials_table_tells_how_a_failed_trial_ended(page: Page) -> None:
    assert "1 failed" in page.text
    assert "version_set.cc" in page.text


def test_figures_are_valid_for_plotly_and_have_titled_axes(page: Page) -> None:
    assert len(page.scripts) == 6
    for name, text in page.scripts.items():
        figure = json.loads(re.sub(r"role:\w+", "#123456", text))
        go.Figure(figure)
        assert figure["layout"]["xaxis"]["title"]["text"], name


def test_colour_roles_are_defined_light_and_dark(page: Page) -> None:
    html = render_report(sample.study(), sample.outcome(), sample.trials(), sample.arms())
    styles = html[html.index("<style>") : html.index("</style>")]
    roles = {role for text in page.scripts.values() for role in re.findall(r"role:(\w+)", text)}
    assert roles
    for role in roles:
        assert styles.count(f"--{role}:") == 2, role


def test_best_so_far_never_falls_and_ends_at_the_best_trial(page: Page) -> None:
    figure = json.loads(page.scripts["thesearch0"])
    trials, best = figure["data"][0]["y"], figure["data"][1]["y"]
    assert best == sorted(best)
    assert math.isclose(best[-1], max(trials))
    # The baseline runs at 50,000 operations/s at the age of 0.94 s, at which the search begins.
    first = sample.trials()[4]
    assert first.measurement is not None
    assert trials[0] == pytest.approx(first.measurement.figures["throughput_ops_s"] / 50_000, rel=0.02)
    assert figure["data"][2]["y"] == [1, 1]


def test_report_file_is_written_whole(tmp_path: Path) -> None:
    path = tmp_path / "out" / "report.html"
    study = replace(sample.study(), spec={"tuner": "random"})
    write_report(path, study, sample.outcome(), sample.trials())
    assert path.read_text(encoding="utf-8").endswith("</html>\n")
    assert list(path.parent.iterdir()) == [path]


def test_figures_follow_the_verification_that_the_outcome_states() -> None:
    outcome = sample.outcome(verified_at_scale="1/4")
    trials = sample.trials()
    moved = [
        replace(
            record, phase="verify 1/4", trial=replace(record.trial, replicate=4300 + record.trial.replicate)
        )
        for record in trials
        if record.phase == "prove" and record.batch == 6
    ]
    assert {side: len(runs) for side, runs in figures.proof_runs(outcome, [*trials, *moved]).items()} == {
        "best": 1,
        "baseline": 1,
        "rocksdb_defaults": 1,
    }
    assert "on a 1/4 model" in Page(render_report(sample.study(), outcome, [*trials, *moved])).text
