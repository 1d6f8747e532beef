"""The command line: which rows, how thoroughly, and what is recorded."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
import tempfile
import time
import traceback

from . import rows_check, rows_compile, rows_llm, rows_runs, rows_session, rows_units
from .harness import Figure, Missing, Row, Scale

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded.json"
ROWS: tuple[Row, ...] = (
    *rows_check.ROWS,
    *rows_compile.ROWS,
    *rows_units.ROWS,
    *rows_runs.ROWS,
    *rows_llm.ROWS,
    *rows_session.ROWS,
)
WHOLE = Scale(5)
SMOKE = Scale(1, small=True)
SECOND_LOOK = Scale(3, small=True)
TOO_SLOW = 2.0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Speed as ratios: each row times the product and a peer or a floor in turns, on this machine."
    )
    parser.add_argument(
        "--smoke", action="store_true", help="small inputs; fail when a ratio is twice the recorded one"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="write the ratios to recorded.json: of both scales, with --smoke of that one",
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="rows with this text in their names")
    parser.add_argument("--list", action="store_true", help="name the rows and their goals")
    return parser.parse_args()


def _environment() -> tempfile.TemporaryDirectory[str]:
    """No config of a person's, and compiled modules as users have them."""
    folder = tempfile.TemporaryDirectory()
    os.environ["AKM_CONFIG_DIR"] = folder.name
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for name in ("AKM_STATE_DB", "NO_COLOR", "FORCE_COLOR"):
        os.environ.pop(name, None)
    return folder


def measured(row: Row, scale: Scale) -> Figure:
    """One row in a scratch folder of its own."""
    with tempfile.TemporaryDirectory() as scratch:
        return row.measure(pathlib.Path(scratch), scale)


def _shown(figure: Figure) -> str:
    match figure.unit:
        case "s":
            return f"{figure.ours * 1e3:.2f} ms / {figure.theirs * 1e3:.2f} ms"
        case "MB":
            return f"{figure.ours:.0f} MB / {figure.theirs:.0f} MB"
        case _:
            return f"{figure.ours:.3g} / {figure.theirs:.3g}"


def _look(row: Row, scale: Scale, recorded: dict[str, float]) -> bool:
    """Measure one row and print it, with its verdicts; whether it stands. ``recorded`` is what is known of this scale."""
    started = time.perf_counter()
    try:
        figure = measured(row, scale)
        known = recorded.get(row.name)
        if scale.small and known is not None and figure.ratio > TOO_SLOW * known:
            figure = measured(row, SECOND_LOOK)  # a busy moment is no regression: look again
    except Missing as missing:
        print(f"     -  {row.name}  (left out: {missing})", flush=True)
        return True
    except Exception:  # noqa: BLE001 (a row that cannot be measured must not hide the others)
        print(f" ERROR  {row.name}\n{traceback.format_exc()}", flush=True)
        return False
    goal = (
        ""
        if row.goal is None or scale.small
        else f"; goal {row.goal.says}: {'met' if row.goal.met(figure) else 'MISSED'}"
    )
    late = scale.small and known is not None and figure.ratio > TOO_SLOW * known
    note = f"recorded {known:.2f}" if known is not None else "not recorded"
    took = time.perf_counter() - started
    print(
        f"{figure.ratio:6.2f}  {row.name}  ({_shown(figure)}; {note}{goal}; {took:.0f} s){'  TOO SLOW' if late else ''}",
        flush=True,
    )
    recorded[row.name] = round(figure.ratio, 3)
    return not late


def main() -> int:
    """Print a row each; 1 when one fails, or (smoke) takes twice its recorded ratio."""
    options = _options()
    rows = [row for row in ROWS if options.only in row.name]
    if options.list:
        for row in rows:
            print(f"{row.goal.says if row.goal else '-':>16}  {row.name}")
        return 0
    recorded: dict[str, dict[str, float]] = json.loads(RECORDED.read_text())
    wanted = ("smoke",) if options.smoke else ("whole", "smoke") if options.record else ("whole",)
    fine = True
    with _environment():
        for name, scale in (("whole", WHOLE), ("smoke", SMOKE)):
            if name not in wanted:
                continue
            print(f"{name}:", flush=True)
            known = dict(recorded[name])
            if options.record:
                known = {row: ratio for row, ratio in known.items() if all(row != one.name for one in rows)}
            for row in rows:
                fine &= _look(row, scale, known)
            if options.record:
                recorded[name] = {row.name: known[row.name] for row in ROWS if row.name in known}
    if options.record:
        RECORDED.write_text(json.dumps(recorded, indent=2) + "\n")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
