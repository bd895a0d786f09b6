from tests.report import sample

from rocktune.report import learned

MODEL = {
    "length_scales": {"block_size": 2.5, "write_buffer_size": 0.2},
    "tasks": ["throughput_ops_s", "<b>"],
    "correlations": [[1.0, 0.8], [0.8, 1.0]],
}


def test_knobs_come_in_order_of_their_importance_and_strings_are_escaped() -> None:
    page = learned.section(sample.outcome(models=[MODEL]))
    assert page.index("write_<wbr>buffer") < page.index("block_<wbr>size")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert "0.80" in page


def test_clusters_have_titles_and_one_task_has_no_correlations() -> None:
    single = {"length_scales": {"block_size": 1.0}, "tasks": ["throughput_ops_s"]}
    page = learned.section(sample.outcome(models=[MODEL, single]))
    assert "Cluster 1" in page
    assert "Cluster 2: throughput" in page
    assert page.count("Correlation between tasks") == 1


def test_tuners_without_models_have_no_section() -> None:
    assert learned.section(sample.outcome(models=[])) == learned.section(sample.outcome()) == ""
