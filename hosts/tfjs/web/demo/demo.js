// The page around the training: switches, the chart, figures.

const element = (id) => document.getElementById(id);
const inMB = (bytes) => (bytes === undefined ? 'not told' : `${Math.round(bytes / 2 ** 20)} MB`);
const FIGURES = {
  step: ({ step }) => step,
  loss: ({ loss }) => loss.toFixed(4),
  'GPU memory': ({ allocated }) => inMB(allocated),
  'live tensors': ({ live }) => live,
  'given back': ({ reclaimed, created }) => `${reclaimed} of ${created}`,
  collections: ({ collections }) => collections,
  'longest pause': ({ longestMs }) => `${longestMs.toFixed(1)} ms`,
  'JavaScript heap': ({ heap }) => inMB(heap),
};

let readings = [];
/** What runs: `set` changes its settings. */
let running;

function show() {
  globalThis.drawChart(element('chart'), readings);
  const now = readings.at(-1);
  element('figures').innerHTML = Object.entries(FIGURES)
    .map(([name, tell]) => `<div><dt>${name}</dt><dd>${now ? tell(now) : '–'}</dd></div>`)
    .join('');
}

function heard(now) {
  readings.push(now);
  show();
}

function done(why) {
  element('state').textContent = why;
  running = undefined;
  element('start').disabled = false;
  element('stop').disabled = true;
}

function inWorker(settings) {
  const worker = new Worker('/worker.js');
  worker.onmessage = ({ data: { now, why } }) => {
    if (now !== undefined) heard(now);
    else {
      worker.terminate();
      done(why);
    }
  };
  worker.onerror = ({ message }) => done(message);
  worker.postMessage(settings);
  return { set: (changes) => worker.postMessage(changes) };
}

function inPage(settings) {
  const control = { ...settings };
  globalThis.train(control, heard).then(done, (error) => done(error.message));
  return { set: (changes) => Object.assign(control, changes) };
}

element('start').onclick = () => {
  readings = [];
  const settings = { backend: element('backend').value, reclaim: element('reclaim').checked };
  const where = element('where').value;
  running = where === 'worker' ? inWorker(settings) : inPage(settings);
  element('state').textContent = `training on ${settings.backend} in a ${where}`;
  element('start').disabled = true;
  element('stop').disabled = false;
};
element('stop').onclick = () => running?.set({ ended: true });
element('reclaim').onchange = ({ target }) => running?.set({ reclaim: target.checked });
element('legend').innerHTML = Object.entries(globalThis.CHART_LINES)
  .map(([name, text]) => `<span class="${name}">${text}</span>`)
  .join('');
show();
// For whoever looks from outside: how far it is.
globalThis.demoReadings = () => readings;
