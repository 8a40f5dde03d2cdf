// Memory over time, as SVG. `drawChart(element, readings)`: each reading has `seconds`, `reclaim`, `budget`, `collections`
// and the bytes of LINES.

const MB = 2 ** 20;
const WIDTH = 960;
const HEIGHT = 380;
const LEFT = 64;
const RIGHT = 16;
const TOP = 16;
const BOTTOM = 36;
const LINES = {
  allocated: 'GPU memory that the backend holds',
  liveBytes: 'live tensors, by the books',
};

/** A round number of megabytes or seconds for a tick. */
function tick(span, wanted) {
  const rough = span / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough);
}

function axes(x, y, seconds, megabytes) {
  const parts = [];
  const byMB = tick(megabytes, 5);
  for (let at = 0; at <= megabytes; at += byMB) {
    const height = y(at * MB).toFixed(1);
    parts.push(
      `<line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${height}" y2="${height}"/>`,
    );
    parts.push(`<text class="tick end" x="${LEFT - 8}" y="${Number(height) + 4}">${at} MB</text>`);
  }
  const bySeconds = Math.max(1, tick(seconds, 8));
  for (let at = 0; at <= seconds; at += bySeconds)
    parts.push(
      `<text class="tick middle" x="${x(at).toFixed(1)}" y="${HEIGHT - 14}">${at} s</text>`,
    );
  return parts.join('');
}

/** Where reclaim was off. */
function bands(readings, x) {
  const parts = [];
  for (let i = 0; i < readings.length; i++) {
    if (readings[i].reclaim) continue;
    const from = i;
    while (i + 1 < readings.length && !readings[i + 1].reclaim) i++;
    const left = from === 0 ? LEFT : x(readings[from].seconds);
    const right = x((readings[i + 1] ?? readings[i]).seconds);
    parts.push(
      `<rect class="off" x="${left.toFixed(1)}" y="${TOP}" width="${Math.max(0, right - left).toFixed(1)}" height="${HEIGHT - TOP - BOTTOM}"/>`,
    );
    if (right - left > 80)
      parts.push(
        `<text class="off" x="${(left + 8).toFixed(1)}" y="${TOP + 18}">reclaim off</text>`,
      );
  }
  return parts.join('');
}

function line(name, readings, x, y) {
  const points = readings.map((now) => `${x(now.seconds).toFixed(1)},${y(now[name]).toFixed(1)}`);
  if (points.length === 0) return '';
  const base = y(0).toFixed(1);
  const first = x(readings[0].seconds).toFixed(1);
  const last = x(readings.at(-1).seconds).toFixed(1);
  return (
    `<polygon class="${name}" points="${first},${base} ${points.join(' ')} ${last},${base}"/>` +
    `<polyline class="${name}" points="${points.join(' ')}"/>`
  );
}

/** A mark below the line for each step in which something was collected. */
function collections(readings, x) {
  return readings
    .filter((now, i) => i > 0 && now.collections > readings[i - 1].collections)
    .map(({ seconds }) => {
      const at = x(seconds).toFixed(1);
      return `<line class="collection" x1="${at}" x2="${at}" y1="${HEIGHT - BOTTOM}" y2="${HEIGHT - BOTTOM + 7}"/>`;
    })
    .join('');
}

function budgetLine(budget, y) {
  const height = y(budget).toFixed(1);
  return (
    `<line class="budget" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${height}" y2="${height}"/>` +
    `<text class="budget end" x="${WIDTH - RIGHT - 4}" y="${Number(height) - 6}">budget ${Math.round(budget / MB)} MB</text>`
  );
}

function drawChart(element, readings) {
  const last = readings.at(-1);
  const budget = last?.budget ?? 200 * MB;
  const most = Math.max(1.5 * budget, ...readings.map(({ allocated }) => allocated)) * 1.08;
  const seconds = Math.max(10, last?.seconds ?? 0);
  const x = (at) => LEFT + (at / seconds) * (WIDTH - LEFT - RIGHT);
  const y = (bytes) => HEIGHT - BOTTOM - (bytes / most) * (HEIGHT - TOP - BOTTOM);
  element.setAttribute('viewBox', `0 0 ${WIDTH} ${HEIGHT}`);
  element.innerHTML =
    bands(readings, x) +
    axes(x, y, seconds, most / MB) +
    Object.keys(LINES)
      .map((name) => line(name, readings, x, y))
      .join('') +
    budgetLine(budget, y) +
    collections(readings, x);
}
Object.assign(globalThis, { drawChart, CHART_LINES: LINES });
