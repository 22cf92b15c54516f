import os
import signal
import subprocess
import sys

import pytest

from oxgang import environment, notice
from oxgang.protocol import Notice
from oxgang.version import CLIENT, check_readable


def test_signal_only_sets_a_flag_and_is_given_back():
    before = signal.getsignal(signal.SIGTERM)
    w = notice.Watch()
    w.install()
    assert not w.seen()
    signal.raise_signal(signal.SIGTERM)
    assert w.seen() and w.notice() is None
    w.restore()
    assert signal.getsignal(signal.SIGTERM) == before


def test_file(tmp_path):
    path = tmp_path / "notice.json"
    w = notice.Watch(str(path))
    assert not w.seen()
    path.write_text('{"deadline": 12.5, "reason": "resize"}')
    assert w.seen() and w.notice() == Notice(12.5, "resize")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"deadline": NaN}', '{"deadline": "x"}', '{"deadline": -1}'])
def test_a_file_that_cannot_be_read_is_still_a_notice(tmp_path, text):
    path = tmp_path / "notice.json"
    path.write_text(text)
    w = notice.Watch(str(path))
    assert w.seen() and w.notice() is None


def test_environment():
    assert environment.read({}) == environment.Environment()
    e = environment.read({"RANK": "1", "WORLD_SIZE": "2", "OXGANG_CPUS": "2.5", "OXGANG_TOKEN": "t", "OXGANG_URL": "http://u"})
    assert (e.rank, e.world, e.cpus, e.scheduled) == (1, 2, 2.5, True)
    wrong = [("RANK", "-1"), ("RANK", "1"), ("WORLD_SIZE", "two"), ("OXGANG_CPUS", "nan"), ("OXGANG_MEMORY", "1e9")]
    for name, value in wrong:
        with pytest.raises(ValueError, match=name):
            environment.read({name: value})


def test_checkpoints_of_a_newer_major_version_are_refused():
    check_readable(CLIENT)
    check_readable("oxgang-py 0.99.1")
    with pytest.raises(ValueError, match="upgrade"):
        check_readable("oxgang-py 1.0.0")
    with pytest.raises(ValueError, match="want a version"):
        check_readable("")


def _import_without_site_packages(*modules):
    """Imports modules where only the standard library and this package are."""
    return subprocess.run(
        [sys.executable, "-E", "-S", "-c", "import " + ", ".join(modules)],
        capture_output=True, text=True, cwd=os.path.dirname(os.path.dirname(__file__)),
    )


def test_the_pure_core_does_not_import_torch():
    core = ["oxgang"] + [f"oxgang.{m}" for m in ("protocol", "agent", "notice", "noise", "batching", "environment")]
    run = _import_without_site_packages(*core)
    assert (run.returncode, run.stderr) == (0, "")
    assert "No module named 'torch'" in _import_without_site_packages("oxgang.job").stderr
