'use strict';
// `require('driver-sync/emulator')`. Node loads the ES module. Jest loads modules itself and refuses ES modules, also those of a
// `createRequire`; there the functions load it when they are called, through the loader of Node's main context.
const { createRequire } = process.getBuiltinModule('node:module');
const vm = process.getBuiltinModule('node:vm');
const path = process.getBuiltinModule('node:path');
const { pathToFileURL } = process.getBuiltinModule('node:url');

const file = path.join(__dirname, '../dist/emulator.js');

function loadLater() {
  const load = vm.runInThisContext('(url) => import(url)', {
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  const later = (name) => async (options) => (await load(pathToFileURL(file).href))[name](options);
  return {
    startEmulator: later('startEmulator'),
    startRecorder: later('startRecorder'),
    startReplay: later('startReplay'),
  };
}

function loadNow() {
  try {
    return createRequire(__filename)(file);
  } catch (error) {
    if (typeof globalThis.jest === 'undefined' && process.env.JEST_WORKER_ID === undefined) throw error;
    return loadLater();
  }
}

module.exports = loadNow();
