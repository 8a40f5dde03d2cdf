importScripts('/tf.js');
// A worker has no document: ebb.js finds its core beside the worker unless it is told where.
importScripts('/ebb/ebb.js', '/programs.js');
globalThis.onmessage = async ({ data }) => globalThis.postMessage(await runProgram(data));
