// emscripten's programs have an environment of their own: these get Node's, so that EBB_SEED and GTEST_OUTPUT work.
Module['preRun'] = [() => Object.assign(ENV, process['env'])];
