// Asks for the joins and for the one that is shown, once a second, and puts the answer on the page.
import { planTree } from "./plan.js";
import { Plot } from "./plots.js";
import { shedding } from "./shedding.js";
import { bytes, clock, count, element, eventTime, percent, seconds, whole } from "./words.js";

const EVERY_MS = 1000;
const RECENT = 12;
const find = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);

const shown = { name: asked.get("join"), rows: 25, minutes: Number(asked.get("minutes")) || 5, plan: "" };
const plots = {
  results: new Plot("Results per second", count),
  rates: new Plot("Rows per second, by stream", count),
  lags: new Plot("Lag, by stream", seconds),
  memory: new Plot("Memory, by window", bytes),
  completeness: new Plot("Completeness and throttle", percent, { full: 1 }),
  hold: new Plot("Hold buffer", count, { note: "results that wait for their order" }),
  responses: new Plot("Response time", seconds),
};
find("plots").append(...Object.values(plots).map((plot) => plot.card));

function showJoins(joins) {
  const names = joins.map((join) => join.name);
  if (!names.includes(shown.name)) shown.name = names[0] ?? null;
  find("joins").replaceChildren(...joins.map((join) => {
    const link = element("button", { class: "join", "aria-pressed": String(join.name === shown.name) },
      element("i", { class: `dot ${join.state}` }), element("span", {}, join.name));
    link.addEventListener("click", () => { shown.name = join.name; shown.rows = 25; find("filter").value = ""; look(); });
    return link;
  }));
}

function tile(name, value, note, tone = "") {
  return element("div", { class: `tile ${tone}` }, element("span", { class: "quiet" }, name), element("b", {}, value),
    element("span", { class: "quiet" }, note ?? ""));
}

function showTiles(join) {
  const complete = join.shedding.completeness;
  find("tiles").replaceChildren(
    tile("results", `${count(join.results_per_s)}/s`, `${whole(join.results)} so far`),
    tile("rows in", `${count(join.rows_per_s)}/s`, `${join.streams} streams`),
    tile("completeness", typeof complete === "number" ? percent(complete) : "100 %",
      `${typeof complete === "number" ? missing(join.shedding) : "nothing is shed"}${join.late > 0 ? "; late rows apart" : ""}`,
      complete < 0.95 ? "warn" : ""),
    join.batch.seconds === undefined
      ? tile("lag", seconds(join.lag_s), `frontier ${eventTime(join.frontier)}`)
      : tile("batch", seconds(join.batch.seconds), `frontier ${eventTime(join.frontier)}`),
    tile("memory", bytes(join.bytes + join.held_bytes + join.waiting_bytes),
      join.shedding.memory_budget ? `of ${bytes(join.shedding.memory_budget)}` : join.held ? `${count(join.held)} results held` : "windows and buffers"),
    tile("late rows", join.late > 0 ? `${whole(join.late)} (${percent(join.late_share)})` : "0", `${whole(join.dropped)} dropped · ${whole(join.late_results)} late results`,
      join.late_share > 0.01 ? "warn" : join.late > 0 ? "note" : ""));
}

function missing(shed) {
  if (shed.short) return "the budget is too small";
  if (typeof shed.completeness_low !== "number") return "estimated";
  return `between ${percent(shed.completeness_low)} and ${percent(shed.completeness_high)}`;
}

function table(target, heads, rows) {
  const head = element("tr", {}, ...heads.map(([name, kind]) => element("th", { class: kind }, name)));
  const body = rows.map((cells) => element("tr", {}, ...cells.map((cell, at) =>
    element("td", { class: heads[at][1] }, cell))));
  target.replaceChildren(element("thead", {}, head), element("tbody", {}, ...body));
}

function showStreams({ rows, found, all }) {
  find("filter").hidden = all <= 10;
  find("streams-count").textContent = all > rows.length ? `${rows.length} of ${whole(found)}, the busiest first` : "";
  const extra = rows.some((stream) => stream.dropped !== undefined);
  const heads = [["stream", ""], ["rows/s", "n"], ["rows", "n"], ["window", ""], ["stored", "n"], ["memory", "n"], ["frontier", "n"],
    ["lag", "n"], ["late", "n"], ...(extra ? [["dropped", "n"]] : []), ["filtered", "n"], ["waiting", "n"]];
  table(find("streams"), heads, rows.map((stream) => [
    stream.name, count(stream.rate), whole(stream.rows), stream.window ?? "–", whole(stream.stored), bytes(stream.bytes),
    eventTime(stream.watermark), seconds(stream.lag_s), whole(stream.late), ...(extra ? [whole(stream.dropped)] : []),
    whole((stream.filtered ?? 0) + (stream.unmatchable ?? 0)), whole(stream.waiting)]));
  find("more").hidden = rows.length >= found;
}

function showQueries(queries) {
  find("queries-card").hidden = queries.length === 0;
  table(find("queries"), [["query", ""], ["results", "n"], ["waiting", "n"], ["response time", "n"]],
    queries.slice(0, 200).map((query) => [query.name, whole(query.results), whole(query.held), seconds(query.response_s)]));
}

function showRecent({ columns, rows }) {
  find("recent-card").hidden = rows.length === 0;
  table(find("recent"), [["seen", "n"], ...columns.map((name) => [name, ""])],
    rows.toReversed().slice(0, RECENT).map((row) => [clock(row.at), ...row.cells]));
}

function showPlan(plans) {
  find("plan-card").hidden = plans.length === 0;
  const text = JSON.stringify(plans);
  if (text !== shown.plan) find("plan").replaceChildren(planTree(plans));
  shown.plan = text;
}

const NOTICES = {
  dead: (join) => `No sign of life since ${clock(join.at)}: the process has gone. These are its last numbers; when it starts again, the page goes on.`,
  failed: (join) => `It stopped at ${clock(join.at)}: ${join.reason}`,
  ended: (join) => `It came to its end at ${clock(join.at)}.`,
  quiet: (join) => `Nothing has been pushed since ${clock(join.at)}.`,
  starting: () => "It has started; the first report is still to come.",
};

function showState(join) {
  document.title = `${join.name} · Dovetail`;
  find("name").textContent = join.name;
  find("state").textContent = join.state;
  find("state").className = `state ${join.state}`;
  const about = [join.runtime === "spark" ? "on Spark" : join.runtime, `since ${clock(join.started)}`];
  if (join.restarts.length) about.push(`restarted ${join.restarts.length} time${join.restarts.length > 1 ? "s" : ""}`);
  if (join.order && join.order !== "none") about.push(`order ${join.order}`);
  if (join.buckets) about.push(`${join.buckets} buckets`);
  find("about").textContent = about.filter(Boolean).join(" · ");
  find("notice").hidden = !NOTICES[join.state];
  find("notice").className = `notice ${join.state}`;
  find("notice").textContent = NOTICES[join.state]?.(join) ?? "";
}

const noteOf = {
  rates: (join) => join.streams > 8 ? "the eight busiest" : "",
  memory: (join) => join.windows.more ? "the eight largest" : "",
  lags: (join) => `behind the stream that has come furthest${join.streams > 8 ? ", the eight that lag most" : ""}`,
};

function showPlots(join) {
  const { times, plots: lines } = join.drawn;
  const end = ["running", "quiet", "starting"].includes(join.state) ? join.now : join.at;
  const first = times.length ? Math.min(times[0], end - 60) : 0;
  const range = [Math.max(end - shown.minutes * 60, first), end];
  for (const [name, plot] of Object.entries(plots)) {
    const limit = name === "memory" && typeof join.shedding.memory_budget === "number" ? join.shedding.memory_budget : null;
    const drawn = name === "hold" && join.order === "none" ? [] : lines[name];
    plot.show(times, drawn, range, join.restarts, limit, noteOf[name]?.(join));
  }
  const cards = Object.values(plots).map((plot) => plot.card).filter((card) => !card.hidden);
  cards.forEach((card, at) => card.classList.toggle("alone", at === cards.length - 1 && at % 2 === 0));
}

function showJoin(join) {
  showState(join);
  showPlan(join.plans);
  showRecent(join.recent);
  for (const part of ["tiles", "plots"]) find(part).hidden = !join.drawn;
  if (!join.drawn) return;
  showTiles(join);
  showPlots(join);
  showStreams(join.streams_shown);
  showQueries(join.queries);
  shedding(find("shedding"), join.shedding);
}

async function get(address) {
  const answer = await fetch(address);
  return answer.ok ? answer.json() : null;
}

async function look() {
  let board;
  try {
    board = await get("/api/joins");
    showJoins(board.joins);
    find("empty").hidden = board.joins.length > 0;
    find("folder").textContent = board.folder;
    const query = new URLSearchParams({ name: shown.name ?? "", rows: shown.rows, text: find("filter").value });
    const join = shown.name === null ? null : await get(`/api/join?${query}`);
    find("join").hidden = join === null;
    if (join) showJoin(join);
    const missed = join?.missed ? ` · ${whole(join.missed)} reports missed` : "";
    const bad = board.bad ? ` · ${whole(board.bad)} unreadable lines` : "";
    find("foot").textContent = `reads ${board.folder}${missed}${bad}`;
    document.body.classList.remove("offline");
  } catch (problem) {
    document.body.classList.add("offline");
    find("foot").textContent = `The page's server does not answer (${problem.message}). It is asked again every second.`;
  }
}

for (const button of find("span").children) {
  const minutes = Number(button.dataset.minutes);
  button.setAttribute("aria-pressed", String(minutes === shown.minutes));
  button.addEventListener("click", () => {
    shown.minutes = minutes;
    for (const other of find("span").children) other.setAttribute("aria-pressed", String(other === button));
    look();
  });
}
find("filter").addEventListener("input", look);
find("more").addEventListener("click", () => { shown.rows += 100; look(); });

async function forever() {
  await look();
  setTimeout(forever, EVERY_MS);
}
forever();
