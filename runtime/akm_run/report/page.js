"use strict";
// Lists the attempts, fifty at a time, from the page's islands of JSON. Every text goes in as text, never as markup.
const ID = 0, STEP = 1, WORD = 2, ATTEMPT = 3, ROUND = 4, FACTS = 5, START = 6, TOOK = 7, TOKENS = 8, INPUT = 9, OUTPUT = 10, SAID = 11;
const PAGE = 50;
const byId = (id) => document.getElementById(id);
const names = JSON.parse(byId("names").textContent);
const rows = [];
for (const island of document.querySelectorAll("script.attempts")) {
  for (const row of JSON.parse(island.textContent)) rows.push({ row, run: island.dataset.run, text: null });
  island.remove();
}
let found = rows, first = 0;

const element = (tag, attributes, ...inside) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...inside);
  return made;
};

// What is searched: all that a row shows, in lower case.
const textOf = (entry) => {
  if (entry.text === null) {
    const { row } = entry;
    const parts = [row[ID], names.words[row[WORD]].word, row[FACTS], placeOf(entry)];
    for (const field of [INPUT, OUTPUT, SAID]) if (row[field]) parts.push(row[field][0]);
    entry.text = parts.join("\n").toLowerCase();
  }
  return entry.text;
};

const placeOf = (entry) => names.runs[entry.run].path.join(" / ");

const lasting = (ms) => {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 60000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
};

const quoted = (word) => (/^[\w.:@%+=,/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`);

const fill = (entry, into) => {
  const { row } = entry;
  const run = names.runs[entry.run];
  const told = [`attempt ${row[ATTEMPT]}`];
  if (row[ROUND] > 1) told.push(`round ${row[ROUND]}`);
  if (row[FACTS]) told.push(row[FACTS]);
  told.push(`started ${lasting(Math.max(0, row[START]))} after the run`);
  if (row[TOKENS] !== null) told.push(`${row[TOKENS]} tokens`);
  const step = element("a", { href: `#run-${entry.run}-step-${row[STEP]}` }, `step ${run.steps[row[STEP]]}`);
  into.append(element("p", { class: "note" }, step, ` · ${told.join(" · ")}`));
  let all = true;
  for (const [field, label] of [[INPUT, "Item"], [OUTPUT, "Output"], [SAID, "Diagnostic"]]) {
    if (!row[field]) continue;
    const [text, size] = row[field];
    into.append(element("h4", {}, label));
    into.append(text ? element("pre", { tabindex: "0", "aria-label": `${label} of ${row[ID]}` }, text) : element("p", { class: "note" }, "an empty text"));
    if (size === undefined) continue;
    all = false;
    into.append(element("p", { class: "note" }, `The beginning of ${size} bytes.`));
  }
  if (!all) {
    const command = `akm-run logs ${quoted(run.id)} ${quoted(row[ID])}`;
    into.append(element("p", { class: "note" }, element("code", {}, command), " prints what it wrote; ", element("code", {}, `akm-run export ${quoted(run.id)} -o FILE`), " keeps everything."));
  }
  if (!row[INPUT] && !row[OUTPUT] && !row[SAID]) into.append(element("p", { class: "note" }, "It has no item, no output and no diagnostic."));
};

const listed = (entry) => {
  const { row } = entry;
  const word = names.words[row[WORD]];
  const pill = element("span", { class: `pill ${word.tone}` }, element("span", { "aria-hidden": "true" }, word.sign), ` ${word.word}`);
  const summary = element("summary", {}, pill, element("code", {}, row[ID]));
  const more = [placeOf(entry), row[FACTS]].filter(Boolean).join(" · ");
  if (more) summary.append(element("span", { class: "place" }, more));
  summary.append(element("span", { class: "num" }, row[TOOK] === null ? "" : lasting(row[TOOK])));
  const made = element("details", {}, summary);
  made.addEventListener("toggle", () => { if (made.open && made.childElementCount === 1) fill(entry, made); });
  return made;
};

const draw = () => {
  byId("list").replaceChildren(...found.slice(first, first + PAGE).map(listed));
  const last = Math.min(first + PAGE, found.length);
  const which = found.length > PAGE ? `, ${first + 1} to ${last} shown` : "";
  byId("found").textContent = found.length ? `${found.length} of ${rows.length} attempts${which}` : `None of ${rows.length} attempts.`;
  byId("before").disabled = first === 0;
  byId("after").disabled = last >= found.length;
  byId("before").parentElement.hidden = found.length <= PAGE;
};

const search = () => {
  const words = byId("find-text").value.toLowerCase().split(/\s+/).filter(Boolean);
  const word = byId("find-word").value, run = byId("find-run").value, step = byId("find-step").value;
  found = rows.filter((entry) =>
    (!word || entry.row[WORD] === Number(word)) && (!run || entry.run === run) &&
    (!step || `${entry.run} ${entry.row[STEP]}` === step) && words.every((part) => textOf(entry).includes(part)));
  first = 0;
  draw();
};

const options = (id, choices) => {
  byId(id).replaceChildren(element("option", { value: "" }, "all"), ...choices.map(([value, label]) => element("option", { value }, label)));
  byId(id).parentElement.hidden = choices.length < 2;
};

const counts = (keyOf) => {
  const map = new Map();
  for (const entry of rows) map.set(keyOf(entry), (map.get(keyOf(entry)) ?? 0) + 1);
  return map;
};

const stepOptions = () => {
  const run = byId("find-run").value || "0";
  const of = counts((entry) => `${entry.run} ${entry.row[STEP]}`);
  options("find-step", names.runs[run].steps.map((step, index) => [`${run} ${index}`, step]).filter(([key]) => of.has(key)).map(([key, step]) => [key, `${step} (${of.get(key)})`]));
};

if (byId("find")) {
  const words = counts((entry) => entry.row[WORD]), runs = counts((entry) => entry.run);
  options("find-word", names.words.map(({ word }, index) => [String(index), word, words.get(index)]).filter(([, , count]) => count).map(([value, word, count]) => [value, `${word} (${count})`]));
  options("find-run", Object.entries(names.runs).filter(([number]) => runs.has(number)).map(([number, { id, path }]) => [number, `${path.join(" / ") || "the run itself"} (${runs.get(number)})`]));
  stepOptions();
  let waiting = 0;
  byId("find-text").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(search, 80); });
  byId("find").addEventListener("submit", (event) => { event.preventDefault(); search(); });
  for (const name of ["word", "step"]) byId(`find-${name}`).addEventListener("change", search);
  byId("find-run").addEventListener("change", () => { stepOptions(); search(); });
  byId("before").addEventListener("click", () => { first = Math.max(0, first - PAGE); draw(); byId("found").scrollIntoView(); });
  byId("after").addEventListener("click", () => { first += PAGE; draw(); byId("found").scrollIntoView(); });
  byId("no-script").hidden = true;
  for (const tool of document.querySelectorAll(".tools")) tool.hidden = false;
  draw();
}

// A link leads into what is folded; a button shows a child's units; printing opens what people look for.
const show = (id) => {
  const target = byId(id);
  if (!target) return;
  for (let part = target; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  target.scrollIntoView({ block: "start" });
  (target.querySelector("summary") ?? target).focus({ preventScroll: true });
};
document.addEventListener("click", (event) => {
  const link = event.target.closest('a[href^="#run-"]');
  if (link) {
    event.preventDefault();
    history.replaceState(null, "", link.getAttribute("href"));
    show(link.getAttribute("href").slice(1));
    return;
  }
  const button = event.target.closest("button[data-units]");
  if (!button) return;
  byId("find-text").value = "";
  byId("find-word").value = "";
  byId("find-run").value = button.dataset.units;
  stepOptions();
  search();
  show("units");
  byId("find-text").focus({ preventScroll: true });
});
addEventListener("hashchange", () => show(decodeURIComponent(location.hash.slice(1))));
addEventListener("beforeprint", () => { for (const part of document.querySelectorAll("details.step, details.run")) part.open = true; });
if (location.hash) show(decodeURIComponent(location.hash.slice(1)));
