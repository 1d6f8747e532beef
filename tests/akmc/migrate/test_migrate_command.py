"""``akmc migrate`` as a person calls it: outputs, overwriting, exit statuses."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from akmc.cli import run

Write = Callable[[Mapping[str, str]], Path]
Akmc = Callable[..., "subprocess.CompletedProcess[str]"]

PROGRAM = "version: 1\nname: p\nsteps:\n  - id: a\n    unit: {instructions: Do it.}\n"
CLASSIC = "# Workflow: C\n\n## Step: One\nStep ID: one\n\n### Instructions\nDo it.\n"
BROKEN = "version: 1\nname: p\nsteps:\n  - id: a\n"
NEW = "---\nsteps:\n  - id: a\n---\n## a\nDo it.\n"


def test_one_file_goes_to_standard_output(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write({"p.yaml": PROGRAM})
    assert run(["migrate", "p.yaml"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ("---\ntype: workflow\ndescription: p\nsteps:\n  - id: a\n---\n\n# p\n\n## a\n\nDo it.\n")
    assert captured.err == ""


def test_a_folder_gets_one_file_each(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"p.yaml": PROGRAM, "old/c.md": CLASSIC})
    assert run(["migrate", "p.yaml", "old/c.md", "-o", "new/workflows"]) == 0
    assert capsys.readouterr().out == "new/workflows/p.md\nnew/workflows/c.md\n"
    assert sorted(path.name for path in (root / "new/workflows").iterdir()) == ["c.md", "p.md"]
    assert run(["check", "new"]) == 0


def test_nothing_is_overwritten_without_force(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"c.md": CLASSIC})
    assert run(["migrate", "c.md", "-o", "."]) == 1
    assert '"c.md" is there already' in capsys.readouterr().err
    assert (root / "c.md").read_text() == CLASSIC
    assert run(["migrate", "c.md", "-o", ".", "--force"]) == 0
    assert (root / "c.md").read_text().startswith("---\ntype: workflow\n")
    assert list(root.iterdir()) == [root / "c.md"]


def test_all_files_are_tried(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"b.yaml": BROKEN, "n.md": NEW, "p.yaml": PROGRAM, "q/p.yml": PROGRAM})
    assert run(["migrate", "b.yaml", "n.md", "p.yaml", "q/p.yml", "-o", "out"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "out/p.md\n"
    assert [path.name for path in (root / "out").iterdir()] == ["p.md"]
    assert "b.yaml:4:5: error[AKM0303 step-kind-conflict]" in captured.err
    assert '"b.yaml" is not migrated: mend the old file first' in captured.err
    assert '"n.md" is no workflow of the classic Markdown format' in captured.err
    assert 'was just written from "p.yaml"' in captured.err


def test_a_missing_path_among_others(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    root = write({"p.yaml": PROGRAM})
    assert run(["migrate", "none.yaml", "p.yaml", "-o", "out"]) == 2
    assert 'cannot read "none.yaml"' in capsys.readouterr().err
    assert (root / "out/p.md").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "Missing argument"),
        (["p.yaml", "p.yaml"], "standard output takes one file"),
        (["p.yaml", "-o", "p.yaml"], "is no folder"),
        (["p.yaml", "--engines", "none.json"], "cannot read"),
        (["p.yaml", "--engines", "p.yaml"], "is not JSON"),
        (["p.yaml", "--engines", "list.json"], "no JSON object"),
        (["p.yaml", "--engines", "bad.json"], "which is no engine name"),
    ],
)
def test_calls_that_make_no_sense(
    words: list[str], said: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write({"p.yaml": PROGRAM, "list.json": "[]", "bad.json": '{"agent": "My Engine"}'})
    assert run(["migrate", *words]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_what_cannot_check_clean_is_not_written(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    steps = "".join(f"  - id: s{number}\n    unit: {{instructions: x}}\n" for number in range(257))
    root = write({"p.yaml": f"version: 1\nname: p\nsteps:\n{steps}"})
    assert run(["migrate", "p.yaml", "-o", "out"]) == 1
    captured = capsys.readouterr()
    assert "p.md:5:3: error[AKM0206 bound-exceeded]" in captured.err
    assert 'the new "p.md" would not check clean' in captured.err
    assert not (root / "out").exists()


def test_standard_input(akmc: Akmc) -> None:
    for text, title in ((PROGRAM, "# p"), (CLASSIC, "# C"), ("---\n" + PROGRAM, "# p")):
        done = akmc("migrate", "-", stdin=text)
        assert done.returncode == 0, done.stderr
        assert title in done.stdout.split("\n")


def test_a_config_around_decides_which_bundles_there_are(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    program = PROGRAM.replace("{instructions", '{env: ["team//env/x"], instructions')
    write({"p.yaml": program})
    assert run(["migrate", "p.yaml"]) == 0
    assert 'no bundle is called "team"; configured: (none)' in capsys.readouterr().err
    write({".akm/config.json": '{"bundles": {"team": "."}}'})
    assert run(["migrate", "p.yaml"]) == 0
    assert "env: [team//env/x]" in capsys.readouterr().out.replace('"', "")


def test_only_migrate_imports_jsonschema(write: Write) -> None:
    import sys

    write({"p.yaml": PROGRAM})
    code = (
        "import sys\nfrom akmc.cli import run\n"
        "run(['migrate', '--help'])\nassert 'jsonschema' not in sys.modules and 'akmc.migrate.run' not in sys.modules\n"
        "assert run(['migrate', 'p.yaml']) == 0\nassert 'jsonschema' in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_check_recognises_superseded_files(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(
        {
            "workflows/a.yaml": "# old\nversion: 1\n" + PROGRAM.partition("\n")[2],
            "workflows/b.yml": PROGRAM.replace("version: 1", "version: 2"),
            "workflows/c.md": CLASSIC,
            "workflows/d.yaml": "name: x\n",
            "workflows/e.yaml": PROGRAM.replace("version: 1", "version: 4"),
            "tasks/f.yaml": PROGRAM,
            "workflows/g.yaml": "- [\n",
        }
    )
    assert run(["check", "--format", "concise"]) == 1
    said = [line for line in capsys.readouterr().out.splitlines() if line]
    kinds = [(line.split(": ")[0], line.split("[")[1].split("]")[0].split()[1]) for line in said]
    assert kinds == [
        ("tasks/f.yaml:1:1", "unrecognised-extension"),
        ("workflows/a.yaml:2:1", "superseded-format"),
        ("workflows/b.yml:1:1", "superseded-format"),
        ("workflows/c.md:1:3", "superseded-format"),
        ("workflows/d.yaml:1:1", "unrecognised-extension"),
        ("workflows/e.yaml:1:1", "unrecognised-extension"),
        ("workflows/g.yaml:1:1", "unrecognised-extension"),
    ]
    assert "version 1" in said[1]
    assert "version 2" in said[2]
    assert "classic Markdown" in said[3]
    assert run(["check", "workflows/a.yaml"]) == 1
    assert "help: akmc migrate workflows/a.yaml" in capsys.readouterr().out
    assert run(["check", "--fix", "workflows/a.yaml"]) == 1
    assert Path("workflows/a.yaml").exists()
