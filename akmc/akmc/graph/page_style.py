"""Style and script of the page. The script only opens and folds what is there: without it the page still works."""

from __future__ import annotations

from typing import Final

from akm_schemas.drawing.model import Tone
from akm_schemas.drawing.theme import DARK, LIGHT, Palette

_SHAPES: Final = """\
* { box-sizing: border-box }
html { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 }
header { padding: .8rem 1.2rem .2rem }
h1 { font-size: 1.25rem; margin: 0; overflow-wrap: anywhere }
header p { margin: 0; overflow-wrap: anywhere }
code, pre, dd, .gist { font: 13px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
.drawing { overflow: auto; padding: 0 .4rem }
main { padding: .6rem 1.2rem 2rem; min-width: 0 }
details { border: 1px solid; border-radius: 5px; margin: .4rem 0; padding: 0 .7rem; scroll-margin-top: .6rem }
summary { cursor: pointer; padding: .35rem 0; overflow-wrap: anywhere }
summary b { margin-right: .4rem }
.gist { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding-left: 1rem }
.mark { border: 2px solid; border-radius: 9px; padding: 0 .5rem; font-weight: 600 }
.gone > summary b { text-decoration: line-through }
dl { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .1rem 1rem; margin: .3rem 0 .7rem }
dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap }
h4 { font-size: .95rem; margin: .6rem 0 .2rem }
pre { padding: .6rem; margin: 0 0 .7rem; white-space: pre-wrap; overflow-wrap: anywhere }
.child { margin-bottom: .7rem }
button { font: inherit; font-size: .95rem; padding: .15rem .8rem; border: 1px solid; border-radius: 4px; cursor: pointer }
:focus-visible { outline: 3px solid; outline-offset: 2px }
@media (min-width: 75rem) {
  .panes { display: grid; grid-template-columns: minmax(0, 11fr) minmax(0, 9fr); height: calc(100vh - 4.6rem) }
  .panes > * { overflow: auto; height: 100% }
}
@media print { .panes, .panes > * { display: block; height: auto; overflow: visible } .tools { display: none } }
"""

SCRIPT: Final = """\
"use strict";
const show = (id) => {
  const step = document.getElementById(id);
  if (!step) return;
  for (let part = step; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  step.scrollIntoView({ block: "start" });
  step.querySelector("summary").focus({ preventScroll: true });
};
const named = () => decodeURIComponent(location.hash.slice(1));
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#step-"]');
  if (!link) return;
  event.preventDefault();
  history.replaceState(null, "", link.getAttribute("href"));
  show(named());
});
addEventListener("hashchange", () => show(named()));
for (const [id, open] of [["expand", true], ["fold", false]]) {
  document.getElementById(id).addEventListener("click", () => {
    for (const step of document.querySelectorAll("details")) step.open = open;
  });
}
document.querySelector(".tools").hidden = false;
if (location.hash) show(named());
"""


def page_style() -> str:
    """The rules of the page in both colour schemes; the drawing's own are ``theme.style()``."""
    return f"{_SHAPES}{_rules(LIGHT)}@media (prefers-color-scheme: dark) {{\n{_rules(DARK)}}}\n"


def _rules(palette: Palette) -> str:
    rules = [
        f"body {{ background: {palette.paper}; color: {palette.ink} }}",
        f"header p, dt, .kind, .gist {{ color: {palette.quiet} }}",
        f"pre {{ background: {palette.box} }}",
        f"details {{ border-color: {palette.line} }}",
        f"button {{ background: {palette.box}; color: {palette.ink}; border-color: {palette.line} }}",
        f":focus-visible {{ outline-color: {palette.route} }}",
        *(_tone(tone, color) for tone, color in palette.tones.items()),
    ]
    return "\n".join(rules) + "\n"


def _tone(tone: Tone, color: str) -> str:
    return f".mark.{tone} {{ color: {color} }} details.{tone} {{ border-color: {color} }}"
