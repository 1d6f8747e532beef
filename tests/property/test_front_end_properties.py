"""Properties of reading: nothing raises, places are real, order and hash seed do not matter."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys

from hypothesis import given, settings
from strategies import ANY_BYTES, sound_workflows

from akmc_grammar.diagnostics import Sink
from akmc_grammar.markdown import read_markdown
from akmc_grammar.source import SourceText


@settings(max_examples=200, deadline=None)
@given(ANY_BYTES)
def test_any_bytes_are_read_and_every_finding_has_a_place(data: bytes) -> None:
    sink = Sink()
    source = SourceText.of("workflows/x.md", data)
    document = read_markdown(source, ref="workflows/x", sink=sink)
    lines = max(1, len(source.lines))
    for finding in sink.found:
        span = document.locator.span(finding.place)
        assert 1 <= span.line <= max(lines, data.count(b"\n") + 1)
        assert span.column >= 1
        assert (span.end_line, span.end_column) >= (span.line, span.column)
    assert (document.ir is None) <= sink.has_errors


@settings(max_examples=100, deadline=None)
@given(sound_workflows())
def test_sound_workflows_have_no_finding_and_crlf_twins_read_alike(text: str) -> None:
    documents = []
    for raw in (text.encode(), text.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + text.encode()):
        sink = Sink()
        documents.append(read_markdown(SourceText.of("workflows/x.md", raw), ref="workflows/x", sink=sink).ir)
        assert [finding.message for finding in sink.found] == []
    assert documents[0] == documents[1] == documents[2]


def test_findings_do_not_depend_on_hash_seed_or_file_order(tmp_path: pathlib.Path) -> None:
    (tmp_path / "workflows").mkdir()
    text = "---\ncolour: red\nshape: round\nsteps: [{id: a, gate: {loops: 1}}, {id: b}]\n---\n## c\nX.\n## d\nY.\n"
    names = ["workflows/a.md", "workflows/b.md", "workflows/c.md"]
    for name in names:
        (tmp_path / name).write_text(text)
    outputs = set()
    for seed, order in (("0", names), ("1", names[::-1]), ("77", [names[1], names[0], names[2]])):
        done = subprocess.run(
            [sys.executable, "-m", "akmc", "check", "--format", "json", *order],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        assert done.returncode == 1, done.stderr
        assert len(json.loads(done.stdout)["diagnostics"]) >= 15
        outputs.add(done.stdout)
    assert len(outputs) == 1
