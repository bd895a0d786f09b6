import importlib.util
import json
from pathlib import Path
from types import ModuleType

from rocktune.workload import WorkloadSpec


def golden_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("golden_specs", Path(__file__).with_name("golden_specs.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_golden_file_is_up_to_date() -> None:
    golden = golden_module()
    assert golden.GOLDEN_FILE.read_text() == golden.golden_text(), "run python tests/workload/golden_specs.py"


def test_the_golden_file_reads_back() -> None:
    golden = golden_module()
    documents = json.loads(golden.GOLDEN_FILE.read_text())
    assert [WorkloadSpec.model_validate(document) for document in documents] == golden.golden_specs()
