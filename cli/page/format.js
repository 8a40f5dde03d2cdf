// Figures as people read them. Text from a recording only ever becomes textContent.

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

function amount(bytes) {
  let value = Math.abs(bytes), unit = 0;
  for (; value >= 1024 && unit < UNITS.length - 1; ++unit) value /= 1024;
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${bytes < 0 ? "-" : ""}${value.toFixed(digits)} ${UNITS[unit]}`;
}

const change = (bytes) => (bytes > 0 ? "+" : "") + amount(bytes);
const count = (number) => Math.round(number).toLocaleString("en-US");

function moment(seconds) {
  if (seconds === 0) return "0";
  if (seconds < 1) return `${(seconds * 1000).toFixed(seconds < 0.1 ? 1 : 0)} ms`;
  if (seconds < 120) return `${seconds.toFixed(seconds < 10 ? 2 : 1)} s`;
  if (seconds < 7200) return `${(seconds / 60).toFixed(1)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

// A round step of which about `wanted` make up `whole`.
function roundStep(whole, wanted, binary) {
  const rough = whole / wanted;
  if (!(rough > 0)) return 1;
  const base = binary ? 2 ** Math.floor(Math.log2(rough)) : 10 ** Math.floor(Math.log10(rough));
  for (const times of binary ? [1, 2] : [1, 2, 5, 10]) if (base * times >= rough) return base * times;
  return base * 10;
}

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

const byId = (id) => document.getElementById(id);
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

// The drawing area of a canvas in CSS pixels, as sharp as the screen.
// (Where its size is known it is given: asking makes the browser lay the page out.)
function prepared(canvas, width = canvas.clientWidth, height = canvas.clientHeight) {
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "11px system-ui, sans-serif";
  return {context, width, height};
}

// The same place has the same colour everywhere.
function hueOf(text) {
  let hash = 2166136261;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return (hash >>> 0) % 360;
}
