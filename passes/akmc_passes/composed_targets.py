"""What a ``uses`` (or the ``run`` of a task) comes to as a target, workflows aside.

Before: the ref was resolved to a file. After: a target with everything but its bindings, or a ``Refusal`` that says why
there is none. Scripts are embedded byte for byte; prompts are filled here, once.
"""

from __future__ import annotations

import base64
from pathlib import PurePosixPath

from msgspec import UNSET, Struct

from akm_schemas.bounds import INSTRUCTION_BYTES, SCRIPT_BYTES
from akm_schemas.json_types import JsonObject
from akm_schemas.plan import ExecTarget, ScriptTarget
from akmc_grammar.command_asset import CommandDocument, filled, without_blank_ends
from akmc_grammar.ir import Exec
from akmc_grammar.suggest import listed
from akmc_passes.contract import Asset, ComposedCommand, Context
from akmc_passes.interpreters import INTERPRETERS
from akmc_passes.library import Library, adopt_findings
from akmc_passes.read_set import read_asset
from akmc_passes.words import quoted


class Refusal(Struct, frozen=True):
    """Why an asset cannot be composed. ``rule`` is what it is reported under."""

    message: str
    help: str
    rule: str = "composition-invalid"


def exec_target(run: Exec) -> ExecTarget:
    """The command line of a task."""
    return ExecTarget(
        command=run.command,
        cwd=run.cwd or UNSET,
        pass_env=run.pass_env,
        content_hash="",
        input_bindings=[],
    )


def script_target(asset: Asset, context: Context) -> ScriptTarget | Refusal:
    """A script with its bytes and its interpreter."""
    extension = PurePosixPath(asset.path).suffix
    interpreter = INTERPRETERS.get(extension.lower())
    if interpreter is None:
        found = f'the extension "{extension}"' if extension else "a name without extension"
        message = f"no interpreter is known for {found}; known: {listed(INTERPRETERS)}"
        return Refusal(message, "rename the script, or run its program from a script of a known extension")
    try:
        source = read_asset(context, asset)
    except OSError as error:
        return _unreadable(asset, error)
    if not SCRIPT_BYTES.holds(len(source.raw)):
        message = f"{quoted(asset.path)} has {len(source.raw)} bytes, a script has at most {SCRIPT_BYTES.high}"
        return Refusal(message, "let a small script read its data from files of the working tree", "bound-exceeded")
    return ScriptTarget(
        ref=asset.ref,
        interpreter=list(interpreter),
        extension=extension.lower(),
        bytes_base64=base64.b64encode(source.raw).decode("ascii"),
        byte_length=len(source.raw),
        content_hash="",
        input_bindings=[],
    )


def command_target(
    asset: Asset, context: Context, library: Library, *, arguments: str | None = None
) -> ComposedCommand | Refusal:
    """A command asset as a prompt; what is wrong with the asset is shown under its own path."""
    try:
        read_asset(context, asset)
    except OSError as error:
        return _unreadable(asset, error)
    reading = library.read(asset)
    document = reading.document
    if reading.crash is not None and reading.crash not in context.crashes:
        context.crashes.append(reading.crash)
    if not isinstance(document, CommandDocument) or document.ir is None:
        adopt_findings(context.sink, reading.found)
        if document is not None:
            context.documents[document.source.name] = document
        return Refusal(f"{quoted(asset.path)} has errors of its own", f"mend {asset.path} first")
    command = document.ir
    prompt, template = filled(command.template, arguments)
    options: JsonObject = {} if command.agent is None else {"agent": command.agent}
    refusal = _too_long(prompt)
    return refusal or ComposedCommand(prompt, template, asset.ref, command.model, options or None)


def prompt_target(content: str, *, arguments: str | None = None) -> ComposedCommand | Refusal:
    """Prompt text that stands in the source, blank lines at its ends left out as in sections of a workflow."""
    prompt, template = filled(without_blank_ends(content), arguments)
    return _too_long(prompt) or ComposedCommand(prompt, template)


def _too_long(prompt: str) -> Refusal | None:
    size = len(prompt.encode("utf-8", "surrogatepass"))
    if INSTRUCTION_BYTES.holds(size):
        return None
    message = f"the prompt with its arguments has {size} bytes, expected {INSTRUCTION_BYTES.says()}"
    return Refusal(message, "say what the engine shall do, and let it read long texts from files", "bound-exceeded")


def _unreadable(asset: Asset, error: OSError) -> Refusal:
    return Refusal(f"{quoted(asset.path)} cannot be read: {error.strerror or error}", "check what it is and its mode")
