// The specs in a page: a script that is loaded before them, and called from outside.
import jasmineRequire from 'jasmine-core/lib/jasmine-core/jasmine.js';
import { Session, patient } from './session.cjs';

let session;

/** Before the script with the specs is loaded. */
globalThis.beginSpecs = async (options) => {
  const { ebb } = globalThis;
  if (options.mode !== 'off') await ebb.load();
  session = new Session({ ...options, ebb: options.mode === 'off' ? undefined : ebb });
  const jasmine = jasmineRequire.core(jasmineRequire);
  const env = jasmine.getEnv({ suppressLoadErrors: true });
  const given = jasmineRequire.interface(jasmine, env);
  Object.assign(globalThis, given, { jasmine: patient(jasmine) });
  session.configure(env);
  globalThis.ebbSpecs = {
    backend: options.backend,
    begin: (tf) => session.begin(tf.engine()),
  };
};

/** After it. What comes of it is `specsOutcome` in the end. */
globalThis.runSpecs = () => {
  session.run(globalThis.jasmine.getEnv()).then(
    (result) => (globalThis.specsOutcome = { result }),
    (error) => (globalThis.specsOutcome = { error: `${error.message}\n${error.stack}` }),
  );
};
