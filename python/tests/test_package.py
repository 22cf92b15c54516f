"""The wheel and the source distribution: built without a network, and installed into a fresh environment."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def setuptools_is_new() -> bool:
    try:
        return int(importlib.metadata.version("setuptools").split(".")[0]) >= 77
    except importlib.metadata.PackageNotFoundError:
        return False


pytestmark = pytest.mark.skipif(not setuptools_is_new(), reason="needs setuptools 77 or later")


def built(version: str, out: Path) -> None:
    subprocess.run([ROOT / "deploy" / "packaging" / "python", sys.executable, version, out], check=True)


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    built("v1.2.3", out)
    return out


def test_wheel_installs_into_a_fresh_environment(dist: Path, tmp_path: Path) -> None:
    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv" / "bin" / "python"
    wheel = dist / "oxgang-1.2.3-py3-none-any.whl"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel], check=True)
    said = subprocess.run(
        [python, "-I", "-c", "import oxgang, oxgang.simulator, sys; print(oxgang.__version__, 'pandas' in sys.modules, oxgang.__file__)"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert said[:2] == ["1.2.3", "False"] and said[2].startswith(str(tmp_path))
    missing = subprocess.run([python, "-I", "-c", "import oxgang.runs"], capture_output=True, text=True, check=False)
    assert "No module named 'pandas'" in missing.stderr


def test_wheel_says_what_it_is(dist: Path) -> None:
    with zipfile.ZipFile(dist / "oxgang-1.2.3-py3-none-any.whl") as wheel:
        names = wheel.namelist()
        metadata = wheel.read("oxgang-1.2.3.dist-info/METADATA").decode()
    packages = {str(p.relative_to(ROOT / "python")) for p in (ROOT / "python" / "oxgang").rglob("*.py")}
    assert packages <= set(names) and "oxgang/py.typed" in names
    assert not [n for n in names if n.startswith(("tests", "examples"))]
    for line in (
        "Version: 1.2.3",
        "License-Expression: Apache-2.0",
        "Author: The Oxgang authors",
        "Project-URL: Homepage, https://github.com/oxgang/oxgang",
        "Classifier: Typing :: Typed",
        'Requires-Dist: pandas>=2.2; extra == "runs"',
        'Requires-Dist: gymnasium>=1.0; extra == "gym"',
    ):
        assert f"\n{line}\n" in metadata, line
    assert not [m for m in metadata.splitlines() if m.startswith("Requires-Dist") and "extra ==" not in m]


def test_source_distribution_makes_the_same_wheel(dist: Path, tmp_path: Path) -> None:
    with tarfile.open(dist / "oxgang-1.2.3.tar.gz") as source:
        source.extractall(tmp_path, filter="data")
    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    subprocess.run([sys.executable, "-c", build, tmp_path], cwd=tmp_path / "oxgang-1.2.3", check=True, capture_output=True)

    def files(wheel: Path) -> dict[str, bytes]:
        with zipfile.ZipFile(wheel) as z:
            return {n: z.read(n) for n in z.namelist()}

    name = "oxgang-1.2.3-py3-none-any.whl"
    assert files(tmp_path / name) == files(dist / name)


@pytest.mark.parametrize(
    ("given", "name"), [("v1.2.3-4-gabc123", "1.2.3.post4+gabc123"), ("v2.0.0rc1", "2.0.0rc1"), ("2ecbd2d3", "0.1.0+g2ecbd2d3")]
)
def test_version_is_that_of_the_tag(given: str, name: str, tmp_path: Path) -> None:
    built(given, tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {f"oxgang-{name}-py3-none-any.whl", f"oxgang-{name}.tar.gz"}


def test_another_version_is_refused(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        built("main; rm", tmp_path)
