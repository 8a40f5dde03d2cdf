// Two runs side by side, memory and time by epoch: drawn with plain characters, and as an SVG.
const MB = 2 ** 20;

/**
 * A run, for both charts: `memory` holds [epochs so far, resident bytes], `seconds` one number an epoch; `end`
 * says how it ended if not at the end.
 * @typedef {{name: string, color: string, mark: string, end: string, memory: [number, number][], seconds: number[]}} Run
 */

/** A round number at or above `value` whose quarters are round as well. */
export function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10]
    .map((factor) => factor * power)
    .find((top) => top >= value);
}

const megabytes = (bytes) => `${Math.round(bytes / MB)} MB`;
const largest = (numbers) => numbers.reduce((a, b) => Math.max(a, b), 0);
const memoryTop = (runs) =>
  roundUp(largest(runs.flatMap(({ memory }) => memory.map(([, bytes]) => bytes / MB)))) * MB;

const ROWS = 15;
const COLUMNS = 66;

export function textChart(title, epochs, runs) {
  const top = memoryTop(runs);
  const grid = Array.from({ length: ROWS }, () => Array(COLUMNS).fill(' '));
  for (const { memory, mark } of runs) {
    for (const [at, bytes] of memory) {
      const row = ROWS - 1 - Math.round((bytes / top) * (ROWS - 1));
      grid[row][Math.min(COLUMNS - 1, Math.floor((at / epochs) * COLUMNS))] = mark;
    }
  }
  const label = (row) => (row === 0 ? megabytes(top) : row === ROWS - 1 ? '0' : '');
  return [
    `  ${title}`,
    '',
    ...grid.map((cells, row) => `${label(row).padStart(9)} |${cells.join('').trimEnd()}`),
    `${' '.repeat(9)} +${'-'.repeat(COLUMNS)}`,
    `${' '.repeat(11)}0${`epoch ${epochs}`.padStart(COLUMNS - 1)}`,
    ...runs.map(({ mark, name, end }) => `${mark.padStart(13)}  ${name}${end ? `: ${end}` : ''}`),
  ].join('\n');
}

const WIDTH = 960;
const HEIGHT = 430;
const TOP = 84;
const BOTTOM = 340;
const QUARTERS = [0, 1, 2, 3, 4];

// Legible on white and on black: the reader's scheme decides.
const STYLE = `<style>
  text { font: 14px system-ui, sans-serif; fill: #333 }
  .title { font-size: 17px; font-weight: 600 } .panel { font-weight: 600 }
  .paper { fill: #fff } .axis { stroke: #888 } .grid { stroke: #e4e4e4 }
  polyline { fill: none; stroke-width: 2.5; stroke-linejoin: round }
  .red { stroke: #c62828 } .blue { stroke: #1565c0 } line.red, line.blue { stroke-width: 3 }
  circle.red { fill: #c62828 } circle.blue { fill: #1565c0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #ddd } .paper { fill: #161616 } .grid { stroke: #303030 }
    .red { stroke: #ff6b61 } .blue { stroke: #6cb2ff }
    circle.red { fill: #ff6b61 } circle.blue { fill: #6cb2ff }
  }
</style>`;

const text = (x, y, words, anchor = 'start', kind = '') =>
  `<text class="${kind}" x="${x}" y="${y}" text-anchor="${anchor}">${words}</text>`;
const line = (kind, x1, y1, x2, y2) =>
  `<line class="${kind}" x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}"/>`;

function panel({ left, right, title, top, epochs, format, curves }) {
  const x = (epoch) => (left + ((right - left) * epoch) / epochs).toFixed(1);
  const y = (value) => (BOTTOM - ((BOTTOM - TOP) * value) / top).toFixed(1);
  const parts = [text(left, TOP - 16, title, 'start', 'panel')];
  for (const quarter of QUARTERS) {
    const value = (top * quarter) / 4;
    if (quarter > 0) parts.push(line('grid', left, y(value), right, y(value)));
    parts.push(text(left - 8, Number(y(value)) + 5, format(value), 'end'));
    const epoch = Math.round((epochs * quarter) / 4);
    parts.push(text(x(epoch), BOTTOM + 20, epoch, 'middle'));
  }
  parts.push(line('axis', left, TOP, left, BOTTOM), line('axis', left, BOTTOM, right, BOTTOM));
  parts.push(text((left + right) / 2, BOTTOM + 40, 'epoch', 'middle'));
  for (const { color, points, stopped } of curves) {
    parts.push(
      `<polyline class="${color}" points="${points.map(([at, value]) => `${x(at)},${y(value)}`).join(' ')}"/>`,
    );
    const last = points.at(-1);
    if (stopped && last)
      parts.push(`<circle class="${color}" cx="${x(last[0])}" cy="${y(last[1])}" r="5"/>`);
  }
  return parts.join('\n');
}

export function svgChart(title, epochs, runs) {
  const curves = (pointsOf) =>
    runs.map((run) => ({ color: run.color, stopped: run.end !== '', points: pointsOf(run) }));
  const legend = runs.map(({ color, name, end }, i) => {
    const at = 90 + i * 440;
    return (
      line(color, at, HEIGHT - 19, at + 28, HEIGHT - 19) +
      text(at + 36, HEIGHT - 14, end ? `${name}: ${end}` : name)
    );
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    STYLE,
    `<title>${title}</title>`,
    `<rect class="paper" width="${WIDTH}" height="${HEIGHT}"/>`,
    text(90, 32, title, 'start', 'title'),
    panel({
      left: 90,
      right: 540,
      title: 'resident memory',
      top: memoryTop(runs),
      epochs,
      format: megabytes,
      curves: curves(({ memory }) => memory),
    }),
    panel({
      left: 640,
      right: 930,
      title: 'processor time of an epoch',
      top: roundUp(largest(runs.flatMap(({ seconds }) => seconds))),
      epochs,
      format: (seconds) => `${Number(seconds.toFixed(2))} s`,
      curves: curves(({ seconds }) => seconds.map((value, i) => [i + 1, value])),
    }),
    ...legend,
    '</svg>',
    '',
  ].join('\n');
}
