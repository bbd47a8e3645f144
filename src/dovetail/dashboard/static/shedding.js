// What a budget does: how much of the input is taken, how much of each window is looked through, and where results
// come from: which ages of which window produce them, as a strip from the newest tuples (left) to the oldest.
import { bytes, count, element, percent } from "./words.js";

const NAMES = { throttle: "of the full work is done", completeness: "of the results are found", memory_used: "of the memory is held" };

export function shedding(card, shed) {
  const fractions = Object.keys(NAMES).filter((name) => typeof shed[name] === "number");
  const strips = Array.isArray(shed.strips) ? shed.strips : [];
  card.hidden = fractions.length === 0 && strips.length === 0 && shed.spilled_bytes === undefined;
  if (card.hidden) return;
  card.querySelector("#fractions").replaceChildren(...fractions.map((name) => fraction(name, shed[name])), ...counts(shed));
  const legend = element("p", { class: "quiet" }, "Windows from their newest tuples to their oldest: the darker, the more results come from there; underlined is what arrivals look through.");
  card.querySelector("#strips").replaceChildren(...(strips.length ? [legend] : []), ...strips.map(strip));
}

function fraction(name, value) {
  const fill = element("i");
  fill.style.width = `${Math.max(0, Math.min(100, 100 * value))}%`;
  return element("div", { class: "fraction" }, element("span", {}, name.replace("_used", "")), element("span", { class: "track" }, fill),
    element("b", {}, percent(value)), element("span", { class: "quiet" }, NAMES[name]));
}

function counts(shed) {
  const found = [["tuples dropped", shed.dropped, count], ["comparisons skipped", shed.skipped, count], ["spilled", shed.spilled_bytes, bytes],
    ...(Array.isArray(shed.kept) ? shed.kept : []).map((each) => [`kept of ${each.name}`, each.share, percent])];
  return found.filter(([, value]) => typeof value === "number").map(([name, value, format]) =>
    element("div", { class: "fraction" }, element("span", {}, name), element("b", {}, format(value))));
}

// One window as seen from one stream's arrivals: a cell per slice, the darker the more results, framed if looked through.
function strip({ title, cells, taken, ends }) {
  const most = Math.max(...cells, 1e-12);
  const drawn = cells.map((value, at) => {
    const cell = element("i", { class: taken?.[at] ? "taken" : "", title: percent(value) });
    cell.style.setProperty("--heat", String(Math.max(0, value) / most));
    return cell;
  });
  return element("div", { class: "strip" }, element("span", { class: "name" }, title),
    element("span", { class: "cells" }, ...drawn), element("span", { class: "quiet" }, ends ?? ""));
}
