import re
from dataclasses import replace

from tests.report import sample

from rocktune.report import render_report
from rocktune.report.reproduce import command_line
from rocktune.report.tried import tried_section

HOSTILE = "<b>x</b>"


def test_the_search_begins_with_what_is_shown() -> None:
    trials = sample.trials()
    first = next(each for each in trials if each.phase == "search")
    tried = [
        {"file": "", "study": HOSTILE, "distance": 0.25, "configuration": dict(first.trial.configuration)},
        {"file": "OPTIONS-7", "configuration": {}, "differences": ["write_buffer_size: 1 instead of 2"]},
    ]
    study = replace(sample.study(), spec={**sample.study().spec, "tried": tried})
    section = tried_section(study, sample.outcome(), trials)
    assert "study &#x27;&lt;b&gt;x&lt;/b&gt;&#x27;, whose conditions have a distance of 0.25" in section
    assert re.search("distance of 0.25</td><td>[1-9]", section)
    assert "<td>OPTIONS-7</td><td></td><td>write_buffer_size: 1 instead of 2</td>" in section
    assert section in render_report(study, sample.outcome(), trials)
    assert "--warm-start" in command_line(study, sample.outcome())


def test_other_studies_have_no_such_section() -> None:
    assert tried_section(sample.study(), sample.outcome(), sample.trials()) == ""
    assert "--warm-start" not in command_line(sample.study(), sample.outcome())
