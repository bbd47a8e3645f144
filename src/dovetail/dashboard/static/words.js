// Numbers and times as a person reads them; elements are made here, and text only ever goes in as text.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined).map((child) =>
    child instanceof Node ? child : document.createTextNode(String(child))));
  return made;
}

const known = (value) => typeof value === "number" && Number.isFinite(value);

// 1234567 -> 1.23 M, 0.0123 -> 0.0123
export function count(value) {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  if (size >= 1e12) return value.toExponential(2);
  for (const [unit, factor] of [["G", 1e9], ["M", 1e6], ["k", 1e3]]) {
    if (size >= factor * (unit === "k" ? 10 : 1)) return `${digits(value / factor)} ${unit}`;
  }
  return Number.isInteger(value) ? value.toLocaleString("en") : digits(value);
}

export function digits(value) {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : String(Number(value.toPrecision(3)));
}

export function whole(value) {
  return known(value) ? Math.round(value).toLocaleString("en") : "–";
}

export function bytes(value) {
  if (!known(value)) return "–";
  for (const [unit, factor] of [["TB", 1e12], ["GB", 1e9], ["MB", 1e6], ["kB", 1e3]]) {
    if (Math.abs(value) >= factor) return `${digits(value / factor)} ${unit}`;
  }
  return `${Math.round(value)} B`;
}

export function seconds(value) {
  if (!known(value)) return "–";
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 1e-3) return `${digits(value * 1e6)} µs`;
  if (size < 1) return `${digits(value * 1e3)} ms`;
  if (size < 120) return `${digits(value)} s`;
  if (size < 7200) return `${digits(value / 60)} min`;
  return size < 2 * 86400 ? `${digits(value / 3600)} h` : `${digits(value / 86400)} d`;
}

export function percent(value) {
  if (!known(value)) return "–";
  const share = value * 100;
  return `${share >= 99.95 || share === 0 ? share.toFixed(0) : share >= 10 ? share.toFixed(1) : digits(share)} %`;
}

export function clock(at) {
  return new Date(at * 1000).toLocaleTimeString("en-GB");
}

// Event time in microseconds; a day that is not today is named.
export function eventTime(micros) {
  if (!known(micros) || Math.abs(micros) > 8e18) return "–";
  const time = new Date(micros / 1000);
  if (Number.isNaN(time.getTime())) return "–";
  const [day, hour] = time.toISOString().split("T");
  return day === new Date().toISOString().slice(0, 10) ? hour.slice(0, 8) : `${day} ${hour.slice(0, 8)}`;
}
