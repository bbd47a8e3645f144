// The plan as a tree: an operator, below it the streams whose windows it holds, and where a stream is the output of
// another operator, that one. Each arrival's way through the windows is a line.
import { bytes, count, element, percent, seconds } from "./words.js";

const SHOWN = 12;

export function planTree(plans) {
  const given = new Map(plans.filter((plan) => plan?.gives).map((plan) => [plan.gives, plan]));
  const tops = plans.filter((plan) => plan && typeof plan === "object" && !plan.gives);
  return element("ul", { class: "tree" }, ...tops.map((plan) => operator(plan, given, 0)));
}

function entries(value) {
  return value && typeof value === "object" ? Object.entries(value) : [];
}

function operator(plan, given, depth) {
  const streams = entries(plan.streams);
  const title = streams.length > 6 ? `join of ${streams.length} streams` : streams.map(([name]) => name).join(" ⋈ ");
  const words = [plan.how && plan.how !== "inner" ? `${plan.how} join` : "inner join"];
  if (plan.order && plan.order !== "none") words.push(`order ${plan.order}`);
  if (plan.late) words.push(`late rows ${plan.late}`);
  if (plan.queries) words.push(`for ${plan.queries.join(", ")}`);
  const node = element("div", { class: "node operator" },
    element("div", { class: "head" }, element("b", {}, title), element("span", { class: "quiet" }, words.join(" · "))),
    costs(plan));
  const shown = streams.slice(0, SHOWN).map(([name, stream]) => {
    const below = depth < 20 ? given.get(name) : undefined;
    return below ? operator(below, given, depth + 1) : streamNode(name, stream, plan.probes?.[name], plan.measured?.per_tuple?.[name], streams.length > 6 ? 3 : SHOWN);
  });
  if (streams.length > SHOWN) shown.push(element("li", {}, element("div", { class: "node quiet" }, `and ${streams.length - SHOWN} more streams`)));
  return element("li", {}, node, element("ul", {}, ...shown));
}

function costs(plan) {
  const rows = [];
  const { predicted, measured } = plan;
  if (typeof predicted?.cost === "number") rows.push(["cost", predicted.cost, measured?.cost, percent, "of a core"]);
  if (typeof predicted?.output_rate === "number") rows.push(["output", predicted.output_rate, measured?.output_rate, count, "rows/s"]);
  if (!rows.length) return null;
  return element("div", { class: "costs" }, ...rows.map(([name, expected, found, format, unit]) => {
    const most = Math.max(expected, found ?? 0) || 1;
    return element("div", { class: "cost" },
      element("span", { class: "quiet" }, `${name}, ${unit}`),
      bar("predicted", expected, most, format),
      typeof found === "number" ? bar("measured", found, most, format) : element("span", { class: "quiet" }, "not measured yet"));
  }));
}

function bar(name, value, most, format) {
  const fill = element("i");
  fill.style.width = `${Math.max(1, 100 * value / most)}%`;
  return element("span", { class: `bar ${name}` }, element("span", { class: "track" }, fill), element("b", {}, format(value)),
    element("span", { class: "quiet" }, name));
}

function streamNode(name, stream, probe, spent, most) {
  const facts = [
    stream?.window && `window ${stream.window}`,
    stream?.algorithm && `stored as ${stream.algorithm}`,
    typeof stream?.tuples === "number" && `${count(stream.tuples)} tuples, ${bytes(stream.bytes)}`,
    typeof stream?.rate === "number" && `${count(stream.rate)}/s of stream time`,
  ].filter(Boolean);
  const node = element("div", { class: "node" },
    element("div", { class: "head" }, element("b", {}, name), element("span", { class: "quiet" }, facts.join(" · "))));
  const steps = Array.isArray(probe?.steps) ? probe.steps : [];
  if (steps.length) {
    node.append(element("div", { class: "probe" }, "arrives", ...steps.slice(0, most).map((step) =>
      element("span", { class: "step" }, "→ ", element("b", {}, step.stream), " ", step.by,
        typeof step.matches === "number" ? element("span", { class: "quiet" }, ` · ${count(step.matches)} matches`) : null)),
      steps.length > most ? `… and ${steps.length - most} more` : null));
  }
  if (spent) node.append(element("div", { class: "probe" }, `measured per tuple: insert ${seconds(spent.insert_s)}, probe ${seconds(spent.probe_s)}, expiry ${seconds(spent.expiry_s)}`));
  return element("li", {}, node);
}
