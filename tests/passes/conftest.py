"""A small bundle on disk, through the Markdown front end and the passes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest

from akmc_grammar.diagnostics import Diagnostic, Sink
from akmc_grammar.markdown import read_markdown
from akmc_grammar.places import Span
from akmc_grammar.source import SourceText
from akmc_passes.bundle import classify
from akmc_passes.config import load_config
from akmc_passes.contract import Asset, Context, Program
from akmc_passes.library import Library
from akmc_passes.pipeline import run_pipeline
from akmc_passes.task_check import check_task


@dataclass
class DiskStore:
    """Reads each file once."""

    texts: dict[Path, SourceText] = field(default_factory=dict)

    def read(self, path: Path) -> SourceText:
        """See ``contract.SourceStore``."""
        if path not in self.texts:
            self.texts[path] = SourceText.of(str(path), path.read_bytes())
        return self.texts[path]

    def exists(self, path: Path) -> bool:
        """See ``contract.SourceStore``."""
        return path.is_file()

    def read_set(self) -> Mapping[Path, SourceText]:
        """See ``contract.SourceStore``."""
        return self.texts


@dataclass
class Checked:
    """A program after the passes, and what was found."""

    program: Program
    context: Context

    def span(self, item: Diagnostic) -> Span:
        """Where a finding stands."""
        return item.place.span or self.program.document.locator.span(item.place)

    @property
    def rules(self) -> list[tuple[str, int]]:
        """Rule and line of each finding, sorted by line."""
        found = [(item.rule.name, self.span(item).line) for item in self.context.sink.found]
        return sorted(found, key=lambda pair: (pair[1], pair[0]))

    @property
    def printed(self) -> str:
        """The findings as text, sorted by place: ``line:column rule: message``, then ``help:``."""
        rows = []
        for item in self.context.sink.found:
            at = self.span(item)
            help = f"\n  help: {item.help}" if item.help else ""
            rows.append(((at.line, at.column), f"{at.line}:{at.column} {item.rule.name}: {item.message}{help}"))
        return "\n".join(text for _, text in sorted(rows))

    @property
    def plan(self) -> dict[str, object]:
        """The plan as JSON."""
        assert self.program.plan is not None, self.printed
        value: dict[str, object] = msgspec.to_builtins(self.program.plan)
        return value

    def at(self, dotted: str) -> object:
        """A value of the plan by dotted path."""
        here: object = self.plan
        for word in dotted.split("."):
            if isinstance(here, list):
                here = here[int(word)]
            else:
                assert isinstance(here, dict)
                here = here[word]
        return here


def _check(
    root: Path, text: str, files: Mapping[str, str], config: object, freeze: bool, stop_after: str | None
) -> Checked:
    source = root / "workflows" / "a.md"
    everything = {"workflows/a.md": text, **files}
    if config is not None:
        everything[".akm/config.json"] = json.dumps(config)
    for name, content in everything.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    located = classify(source)
    assert located is not None
    sink, store = Sink(), DiskStore()
    document = read_markdown(SourceText.of("workflows/a.md", store.read(source).raw), ref=located.ref, sink=sink)
    settings = load_config(source.parent, environ={"AKM_CONFIG_DIR": str(root / "nobody")})
    context = Context(sink, store, located.bundle, settings, freeze)
    program = run_pipeline(Program(document), context, stop_after=stop_after)
    assert not context.crashes, context.crashes[0].traceback
    return Checked(program, context)


@pytest.fixture
def check(tmp_path: Path) -> Callable[..., Checked]:
    """``check(text, files=, config=, freeze=, stop_after=)``: ``workflows/a.md`` through every pass."""

    def run(
        text: str,
        *,
        files: Mapping[str, str] | None = None,
        config: object = None,
        freeze: bool = False,
        stop_after: str | None = None,
    ) -> Checked:
        return _check(tmp_path, text, files or {}, config, freeze, stop_after)

    return run


@dataclass
class Bundled:
    """A workflow of a bundle on disk after all passes, with what it composes."""

    program: Program | None
    context: Context

    @property
    def rules(self) -> list[tuple[str, str, int]]:
        """Rule, file and line of each finding, sorted by file and line."""
        found = [(item.rule.name, item.place.file, self.line(item)) for item in self.context.sink.found]
        return sorted(found, key=lambda item: (item[1], item[2], item[0]))

    @property
    def messages(self) -> list[str]:
        """What the findings say, sorted."""
        return sorted(item.message for item in self.context.sink.found)

    def line(self, item: Diagnostic) -> int:
        """The line of a finding in its own file."""
        if item.place.span is not None:
            return item.place.span.line
        return self.context.documents[item.place.file].locator.span(item.place).line

    @property
    def plan(self) -> dict[str, Any]:
        """The plan as JSON."""
        assert self.program is not None and self.program.plan is not None, self.messages
        value: dict[str, Any] = msgspec.to_builtins(self.program.plan)
        return value

    def target(self, index: int) -> dict[str, Any]:
        """The target of a step."""
        found: dict[str, Any] = self.plan["steps"][index]["unit"]["target"]
        return found


@pytest.fixture
def compose(tmp_path: Path) -> Callable[..., Bundled]:
    """``compose(files, root=, config=, freeze=)``: the files written below the temporary folder, ``root`` frozen.

    Files are shown by their path in the bundle. ``library`` is one of an earlier call, to share what it remembers.
    """

    def run(
        files: Mapping[str, str | bytes],
        root: str = "workflows/a.yml",
        *,
        config: object = None,
        freeze: bool = False,
        library: Library | None = None,
    ) -> Bundled:
        everything = dict(files)
        if config is not None:
            everything[".akm/config.json"] = json.dumps(config)
        for name, content in everything.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        store = library.store if library is not None else NamedStore(tmp_path)
        shared = library or Library(store)
        located = classify(tmp_path / root)
        assert located is not None
        settings = load_config((tmp_path / root).parent, environ={"AKM_CONFIG_DIR": str(tmp_path / "nobody")})
        context = Context(Sink(), store, located.bundle, settings, freeze, library=shared)
        asset = Asset(located.ref, located.family, located.path, located.file, located.bundle)
        if located.family == "tasks":
            return Bundled(None, check_task(asset, context, shared))
        frozen = shared.frozen(asset, context)
        assert not frozen.context.crashes, frozen.context.crashes[0].traceback
        return Bundled(frozen.program, frozen.context)

    return run


@dataclass
class NamedStore:
    """Reads each file once, counts how often, and shows files relative to the temporary folder."""

    folder: Path
    texts: dict[Path, SourceText] = field(default_factory=dict)
    reads: int = 0

    def read(self, path: Path) -> SourceText:
        """See ``contract.SourceStore``."""
        if path not in self.texts:
            self.reads += 1
            self.texts[path] = SourceText.of(path.relative_to(self.folder).as_posix(), path.read_bytes())
        return self.texts[path]

    def exists(self, path: Path) -> bool:
        """See ``contract.SourceStore``."""
        return path.is_file()

    def read_set(self) -> Mapping[Path, SourceText]:
        """See ``contract.SourceStore``."""
        return self.texts
