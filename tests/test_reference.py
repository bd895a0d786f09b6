"""The reference is what the code says."""

import subprocess
import sys
from pathlib import Path

REFERENCE = Path(__file__).parent.parent / "docs" / "reference"


def test_the_reference_is_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(REFERENCE / "make.py"), str(tmp_path)], check=True)
    made = {page.name: page.read_text() for page in tmp_path.iterdir()}
    committed = {page.name: page.read_text() for page in REFERENCE.iterdir() if page.is_file()}
    del committed["make.py"]
    assert made == committed, "run: python docs/reference/make.py"
