"""What lies around the new document: names that the old one cannot know."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from akmc.faults import CONFIG, CommandFault
from akmc.migrate.engine_map import EngineMap
from akmc_passes.config import ConfigError, load_config


@dataclass(frozen=True)
class Surroundings:
    """``engines`` is the mapping file, ``folder`` where the new document goes."""

    engines: EngineMap = field(default_factory=EngineMap)
    folder: Path = field(default_factory=Path.cwd)

    @cached_property
    def bundles(self) -> frozenset[str]:
        """The names of the configured bundles. Read on use: only a ref that names one asks for them.

        Raises:
            CommandFault: 78 when the config is faulty.
        """
        try:
            config = load_config(self.folder.absolute())
        except ConfigError as error:
            raise CommandFault(str(error), status=CONFIG) from error
        return frozenset() if config is None else frozenset(config.bundles)
