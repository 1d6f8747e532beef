"""The source store: each file is read and hashed once in a session."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from akm_schemas.regular_files import NotAFile, read_regular
from akmc_grammar.source import SourceText

__all__ = ["FileStore", "NotAFile", "is_taken", "read_regular"]


class FileStore:
    """Reads files (``akmc_passes.contract.SourceStore``); one object per path for the whole session.

    A path is known by its absolute form. The name that a person sees is the one under which the path was announced,
    else the path relative to the working directory. Texts that are not (or not yet) on disk, such as standard input
    or a mended file, stand in for the file of their path.
    """

    def __init__(self, working_directory: Path | None = None) -> None:
        self.working_directory = working_directory or Path.cwd()
        self._keys: dict[Path, Path] = {}
        self._sources: dict[Path, SourceText] = {}
        self._names: dict[Path, str] = {}
        self._texts: dict[Path, bytes] = {}
        self._by_name: dict[str, SourceText] = {}

    def key(self, path: Path) -> Path:
        """The absolute form of ``path``, symlinks left alone."""
        known = self._keys.get(path)
        if known is None:
            text = os.path.normpath(os.path.join(self.working_directory, path))  # noqa: PTH118 (several times a file)
            known = self._keys[path] = path if text == str(path) else Path(text)
        return known

    def announce(self, path: Path, name: str) -> None:
        """Show ``path`` to people as ``name``; the first name stays."""
        self._names.setdefault(self.key(path), name)

    def put(self, path: Path, raw: bytes) -> None:
        """Let ``raw`` stand in for the file at ``path``."""
        key = self.key(path)
        self._texts[key] = raw
        self._sources.pop(key, None)

    def forget(self, paths: Iterable[Path]) -> None:
        """Read these files again when they are asked for; a text that stands in for one stays."""
        for path in paths:
            self._sources.pop(self.key(path), None)

    def name(self, path: Path) -> str:
        """How ``path`` is shown."""
        key = self.key(path)
        if key not in self._names:
            relative = os.path.relpath(key, self.working_directory)
            self._names[key] = relative.replace(os.sep, "/")
        return self._names[key]

    def read(self, path: Path) -> SourceText:
        """The text of ``path``; raises ``OSError`` as ``Path.read_bytes`` does, and for what is no regular file."""
        key = self.key(path)
        if key not in self._sources:
            raw = self._texts[key] if key in self._texts else read_regular(key)
            source = self._sources[key] = SourceText.of(self.name(key), raw)
            self._by_name[source.name] = source
        return self._sources[key]

    @property
    def by_name(self) -> Mapping[str, SourceText]:
        """Every file read so far, by the name that people see."""
        return MappingProxyType(self._by_name)

    def exists(self, path: Path) -> bool:
        """Whether a regular file is there, or a text stands in for it."""
        key = self.key(path)
        return key in self._texts or key.is_file()

    def changed(self) -> tuple[str, ...]:
        """The files, as shown and sorted, that no longer hold the bytes that were read (or are gone)."""
        return tuple(sorted(source.name for key, source in self._sources.items() if not self._stands(key, source)))

    def _stands(self, key: Path, source: SourceText) -> bool:
        if key in self._texts:
            return True
        try:
            return read_regular(key) == source.raw
        except OSError:
            return False

    def read_set(self) -> Mapping[Path, SourceText]:
        """Every file read so far, by absolute path."""
        return MappingProxyType(self._sources)


def is_taken(path: Path, *, by_other_than: Path) -> bool:
    """Whether anything but the file ``by_other_than``, which is in the same folder, has the name ``path``.

    Where a file system takes ``W.MD`` and ``w.md`` for one name, the folder's own list tells whether they are two.
    """
    if not os.path.lexists(path):
        return False
    same_but_for_case = path.name.lower() == by_other_than.name.lower()
    return not same_but_for_case or any(entry.name == path.name for entry in path.parent.iterdir())
