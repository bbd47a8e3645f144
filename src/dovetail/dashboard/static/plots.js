// Line plots over time, one per element, drawn by uPlot; the legend is ours, so that names are only ever text.
import { clock, element } from "./words.js";

const LINES = 9;

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

export class Plot {
  // Draws `title`, values as `format` says; `full` is a value that the axis should reach (1 for shares).
  constructor(title, format, { full = null, note = "" } = {}) {
    this.format = format;
    this.full = full;
    this.note = element("span", { class: "quiet" }, note);
    this.legend = element("div", { class: "legend" });
    this.area = element("div", { class: "area" });
    this.card = element("section", { class: "card plot", hidden: true },
      element("h2", {}, title, this.note), this.legend, this.area);
    this.key = "";
    this.plot = null;
    new ResizeObserver(() => this.resize()).observe(this.area);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { this.key = ""; this.draw(); });
  }

  // `lines`: name and values of each; `limit`: a level to mark (a budget).
  show(times, lines, range, restarts, limit = null, note = null) {
    if (note !== null && note !== undefined) this.note.textContent = note;
    this.card.hidden = lines.length === 0;
    Object.assign(this, { times, lines, range, restarts, limit });
    if (lines.length) this.draw();
  }

  draw() {
    if (!this.lines?.length || !this.area.clientWidth) return;
    const key = JSON.stringify([this.lines.map((line) => line.name), this.limit !== null]);
    const data = [this.times, ...this.lines.map((line) => line.values)];
    if (this.limit !== null) data.push(this.times.map(() => this.limit));
    if (key !== this.key) this.build(key, data);
    else this.plot.setData(data, false);
    this.plot.setScale("x", { min: this.range[0], max: this.range[1] });
    this.label(this.plot.cursor.idx);
  }

  build(key, data) {
    this.key = key;
    this.plot?.destroy();
    this.names = [...this.lines.map((line) => line.name), ...(this.limit !== null ? ["budget"] : [])];
    this.values = [];
    this.legend.replaceChildren(...this.names.map((name, at) => {
      const value = element("b");
      this.values.push(value);
      return element("span", { class: name === "budget" && at === this.lines.length ? "limit" : `line line-${at % LINES}` },
        element("i"), element("span", { class: "name", title: name }, name), value);
    }));
    this.plot = new uPlot(this.options(data), data, this.area);
  }

  options() {
    const axis = { stroke: colour("--quiet"), font: "12px system-ui, sans-serif",
      grid: { stroke: colour("--grid"), width: 1 }, ticks: { stroke: colour("--grid"), width: 1, size: 4 } };
    const stroke = (at) => colour(`--line-${at % LINES}`);
    const single = this.names.length === 1;
    return {
      width: this.area.clientWidth, height: this.height(),
      legend: { show: false },
      cursor: { sync: { key: "time" }, points: { size: 6 }, drag: { x: false, y: false } },
      scales: { x: { time: true, auto: false }, y: { range: (_, low, high) => this.reach(low, high) } },
      axes: [{ ...axis, space: 70, size: 30,
               values: (_, marks, __, ___, step) => marks.map((at) => step < 60 ? clock(at) : clock(at).slice(0, 5)) },
             { ...axis, size: 62, space: 34, values: (_, marks) => marks.map((mark) => this.format(mark)) }],
      series: [{}, ...this.names.map((name, at) => at === this.lines.length
        ? { stroke: colour("--limit"), dash: [6, 4], width: 1.5, points: { show: false } }
        : { stroke: stroke(at), width: 1.75, spanGaps: false, fill: single ? `${stroke(at)}22` : undefined,
            points: { show: false } })],
      hooks: { setCursor: [(plot) => this.label(plot.cursor.idx)], draw: [(plot) => this.mark(plot)] },
    };
  }

  height() {
    return this.area.clientWidth < 420 ? 150 : 190;
  }

  reach(low, high) {
    const top = Math.max(high ?? 0, this.full ?? 0, this.limit ?? 0);
    return [Math.min(0, low ?? 0), top > 0 ? (top === this.full ? top * 1.02 : top * 1.08) : 1];
  }

  // The values under the cursor, or the newest.
  label(at) {
    const lines = [...this.lines.map((line) => line.values), ...(this.limit !== null ? [[this.limit]] : [])];
    lines.forEach((values, line) => {
      if (!this.values[line]) return;
      const here = values.length === 1 ? values[0] : at === null || at === undefined ? values.at(-1) : values[at];
      this.values[line].textContent = here === null || here === undefined ? "" : this.format(here);
    });
  }

  // A line where the query was started again.
  mark(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = colour("--restart");
    ctx.lineWidth = devicePixelRatio;
    ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    for (const at of this.restarts) {
      const x = plot.valToPos(at, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  resize() {
    if (!this.area.clientWidth) return;
    if (this.plot) this.plot.setSize({ width: this.area.clientWidth, height: this.height() });
    else this.draw();
  }
}
