"""The same sources give the same bytes on every machine, and nothing of a machine is in them."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import sound_workflows

import akm_schemas
import akmc
import akmc_grammar
import akmc_passes
from akm_schemas.decode import encode_plan
from akmc.session.freezing import compile_source

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "plans"
EXAMPLES = ROOT / "docs" / "examples"
PACKAGES = os.pathsep.join(
    str(pathlib.Path(package.__file__ or "").parents[1]) for package in (akmc, akmc_grammar, akmc_passes, akm_schemas)
)
# Compiles every (source, plan) pair of its arguments in one process, from wherever it is started.
DRIVER = """
import os, sys
os.umask(int(sys.argv[1], 8))
from akmc.cli import run
pairs = sys.argv[2:]
sys.exit(max(run(["compile", source, "-o", plan]) for source, plan in zip(pairs[::2], pairs[1::2])))
"""
NEEDED = "import click, cronsim, jsonschema, lark, msgspec, networkx, ruamel.yaml"


def bundles() -> dict[str, pathlib.Path]:
    """The folders with sources: the golden ones, and the examples."""
    found = {f"golden-{path.name}": path for path in GOLDEN.iterdir()}
    return found | {path.name: path for path in EXAMPLES.iterdir() if (path / "workflows").is_dir()}


def copy(source: pathlib.Path, target: pathlib.Path, *, backwards: bool) -> None:
    """The files of a bundle, made in one order or the other."""
    files = sorted(path for path in source.rglob("*") if path.is_file() and not path.name.startswith("plan."))
    for path in reversed(files) if backwards else files:
        to = target / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)


def compile_all(
    folder: pathlib.Path,
    python: str = sys.executable,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str = ".",
    umask: str = "022",
    backwards: bool = False,
    absolute: bool = False,
) -> dict[str, bytes]:
    """The bytes of every plan, compiled in ``folder`` by one process of ``python``."""
    words, plans = [], {}
    start = folder / cwd
    for name, source in bundles().items():
        copy(source, folder / name, backwards=backwards)
        start.mkdir(parents=True, exist_ok=True)
        (root,) = (path for path in (folder / name / "workflows").iterdir() if path.is_file())
        plans[name] = folder / f"{name}.json"
        words += [str(root) if absolute else os.path.relpath(root, start), str(plans[name])]
    base = {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "PYTHONPATH": PACKAGES, "AKM_CONFIG_DIR": "none"}
    argv = [python, "-W", "ignore", "-c", DRIVER, umask, *words]
    done = subprocess.run(argv, cwd=start, env={**base, **(env or {})}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {name: path.read_bytes() for name, path in plans.items()}


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The plans as this interpreter makes them."""
    found = compile_all(tmp_path_factory.mktemp("usual"))
    assert len(found) >= 6
    return found


@pytest.mark.parametrize(
    "how",
    [
        {"env": {"PYTHONHASHSEED": "1"}},
        {"env": {"PYTHONHASHSEED": "4321", "LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0"}},
        {"env": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "LANGUAGE": "tr"}},
        {"env": {"TZ": "Asia/Tokyo", "HOME": "/", "USER": "someone", "HOSTNAME": "elsewhere", "COLUMNS": "20"}},
        {"env": {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"}},
        {"cwd": "some/where/else"},
        {"cwd": "x y", "absolute": True},
        {"umask": "077", "backwards": True},
        {"umask": "000", "env": {"PYTHONHASHSEED": "7", "TMPDIR": "/nonexistent"}},
    ],
    ids=lambda how: "-".join([*how, *how.get("env", {})]),
)
def test_surroundings_leave_no_trace(how: dict[str, object], usual: dict[str, bytes], tmp_path: pathlib.Path) -> None:
    assert compile_all(tmp_path, **how) == usual  # type: ignore[arg-type]  # rows of options


def test_the_golden_plans_are_those(usual: dict[str, bytes]) -> None:
    for name, data in usual.items():
        if name.startswith("golden-"):
            assert (GOLDEN / name.partition("-")[2] / "plan.json").read_bytes() == data


def interpreters() -> Iterator[str]:
    """Other Pythons of this machine that have the dependencies: ``AKMC_PYTHONS``, ``PATH``, pyenv."""
    candidates = os.environ.get("AKMC_PYTHONS", "").split(os.pathsep)
    for version in ("3.11", "3.12", "3.13"):
        candidates.append(shutil.which(f"python{version}") or "")
        candidates += map(str, sorted(pathlib.Path.home().glob(f".pyenv/versions/{version}*/bin/python")))
    site = pathlib.Path(pytest.__file__).parents[1]  # pure packages beside ours may do, compiled ones decide
    for python in dict.fromkeys(filter(None, candidates)):
        for path in ("", str(site)):
            env = {"PATH": os.environ["PATH"], "PYTHONPATH": path}
            done = subprocess.run([python, "-c", NEEDED], env=env, capture_output=True, check=False)
            if done.returncode == 0:
                yield f"{python}{os.pathsep}{path}"
                break


def test_every_python_gives_the_same_bytes(usual: dict[str, bytes], tmp_path: pathlib.Path) -> None:
    compared = []
    for number, found in enumerate(interpreters()):
        python, _, path = found.partition(os.pathsep)
        env = {"PYTHONPATH": os.pathsep.join(filter(None, (PACKAGES, path)))}
        assert compile_all(tmp_path / str(number), python, env=env) == usual, python
        compared.append(python)
    if not compared:
        pytest.skip("no other Python here has the dependencies; tests/reproducible.sh installs them")
    print(f"compared: {', '.join(compared)}")


# ---- nothing of the machine ----

CANARY = "canary-4b1d"
DIGEST = re.compile(r"\b[0-9a-f]{64}\b")
PLANTED = (
    "USER",
    "LOGNAME",
    "HOSTNAME",
    "FAST_KEY",
    "BACK_KEY",
    "AKM_SECRET_TOKEN",
    "CI",
    "ABLE",
    "SERVICE_TOKEN",
    "TZ",
)


def words_of_the_machine() -> list[str]:
    """What must be in no plan; single common words are left out, they may be anybody's prose."""
    now = time.gmtime()
    clock = [time.strftime("%Y-%m-%d", now), str(int(time.time()))[:6], time.strftime("%Y%m%d", now)]
    own = [os.uname().nodename, str(pathlib.Path.home()), str(pathlib.Path.cwd()), sys.prefix, sys.version.split()[0]]
    return [word for word in [*clock, *own, str(os.getpid()), CANARY] if len(word) > 4]


def test_canaries_of_every_kind_stay_outside(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / CANARY
    folder.mkdir()
    env = dict.fromkeys(PLANTED, CANARY) | {"HOME": f"/{CANARY}", "XDG_CONFIG_HOME": f"/{CANARY}"}
    for data in compile_all(folder, env=env).values():
        text = DIGEST.sub("", data.decode())  # a digest may hold any digits
        assert [word for word in [*words_of_the_machine(), str(tmp_path)] if word in text] == []


def test_values_of_env_files_stay_outside(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AKM_CONFIG_DIR", str(tmp_path / "none"))
    copy(GOLDEN / "composed", tmp_path, backwards=False)
    (tmp_path / "env" / "ci.env").write_text(f"LEVEL={CANARY}\nTOKEN='{CANARY} ${{secret:x}}'\nexport A=\"{CANARY}\"\n")
    plan = compile_source(str(tmp_path / "workflows" / "all.yml")).plan
    assert plan is not None
    text = encode_plan(plan).decode()
    assert CANARY not in text and '"keys":["A","LEVEL","TOKEN"]' in text


@settings(max_examples=30)
@given(sound_workflows(), st.sampled_from(["a.md", "deep/b.md"]))
def test_no_kind_of_workflow_takes_the_machine_in(text: str, name: str) -> None:
    import tempfile

    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory(prefix=CANARY) as folder:
        patch.setenv("AKM_CONFIG_DIR", folder)
        for variable in PLANTED:
            patch.setenv(variable, CANARY)
        path = pathlib.Path(folder, "workflows", name)
        path.parent.mkdir(parents=True)
        path.write_text(text)
        plan = compile_source(str(path)).plan
        assert plan is not None
        written = encode_plan(plan).decode()
        assert [word for word in [*words_of_the_machine(), folder] if word in DIGEST.sub("", written)] == []
