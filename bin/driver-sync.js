#!/usr/bin/env node
// Plain old JavaScript on purpose: an older Node must be able to read this file far enough to say why it stops.
var floor = [22, 22];
var found = process.versions.node.split('.').map(Number);
if (found[0] < floor[0] || (found[0] === floor[0] && found[1] < floor[1])) {
  console.error(
    'driver-sync needs Node ' +
      floor.join('.') +
      ' or newer and this is ' +
      process.versions.node +
      '; in a checkout "npm run -s driver-sync -- COMMAND" brings its own',
  );
  process.exit(64);
}

// Imports would load more of Node than they name: see rolldown.config.ts.
var fs = process.getBuiltinModule('node:fs');
var module = process.getBuiltinModule('node:module');
var path = process.getBuiltinModule('node:path');
var v8 = process.getBuiltinModule('node:v8');

// Dates are read with local getters in places; one zone for the process makes them mean UTC everywhere.
process.env.TZ = 'UTC';

// The young generation of V8 would grow to 16 MB while modules are loaded, and a daemon would keep them: src/edges/memory.ts says what it needs.
// Small ones make a start slower, by 40 of 260 ms of CPU time: a sync cuts it down where there is much to do (src/compose/young.ts).
if (process.argv[2] === 'run') v8.setFlagsFromString('--semi-space-growth-factor=1');

var source = new URL('../src/main.ts', import.meta.url);
var isCheckout = fs.existsSync(source);
// Node keeps in memory what it read from this cache: 3 to 5 MB of a daemon that waits, for 0.2 s of its start. A checkout needs the cache
// all the same: without it the type stripper stays in memory, and that is more.
if (module.enableCompileCache && (isCheckout || process.argv[2] !== 'run')) {
  module.enableCompileCache();
  // For threads and processes that this one starts: a thread that reads a file starts in 70 ms instead of 330.
  var cache = module.getCompileCacheDir();
  if (cache) process.env.NODE_COMPILE_CACHE = path.dirname(cache);
}

import(isCheckout ? source.href : new URL('../dist/main.js', import.meta.url).href);
