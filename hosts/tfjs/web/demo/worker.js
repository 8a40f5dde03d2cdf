// The training in a worker. The page sends its settings, and again whenever one of them changes.
importScripts('/tf.js', '/ebb/ebb.js', '/training.js');

let control;
globalThis.onmessage = async ({ data }) => {
  if (control !== undefined) {
    Object.assign(control, data);
    return;
  }
  control = { ...data };
  try {
    const why = await globalThis.train(control, (now) => globalThis.postMessage({ now }));
    globalThis.postMessage({ why });
  } catch (error) {
    globalThis.postMessage({ why: error.message });
  }
};
