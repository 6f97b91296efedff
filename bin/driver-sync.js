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

// Else Node opens a debugger at this signal, which lets everybody on the machine read what is secret.
process.on('SIGUSR1', function () {});

if (process.argv[2] === 'run') {
  // A daemon that is told to end while it loads has nothing to end. src/cli/ending.ts takes over.
  var endUnbegun = function () {
    process.exit(0);
  };
  process.on('SIGTERM', endUnbegun);
  process.on('SIGINT', endUnbegun);
  globalThis[Symbol.for('driver-sync.endUnbegun')] = endUnbegun;
  // A daemon that is asked for something while it loads does it once it runs. src/cli/requests.ts takes over.
  var names = [];
  var noteEarly = function (name) {
    names.push(name);
  };
  process.on('SIGHUP', noteEarly);
  process.on('SIGUSR2', noteEarly);
  globalThis[Symbol.for('driver-sync.askedEarly')] = { names: names, note: noteEarly };
}

// Imports would load more of Node than they name: see rolldown.config.ts.
var fs = process.getBuiltinModule('node:fs');
var module = process.getBuiltinModule('node:module');
var path = process.getBuiltinModule('node:path');

// Dates are read with local getters in places; one zone for the process makes them mean UTC everywhere.
process.env.TZ = 'UTC';

// V8's young generation begins with 1 MB and would grow to 16 MB while modules are loaded, and to 64 later. With 1 MB a start is slower by 30 of
// 200 ms of CPU time, with 16 a pass over 11 M rows takes 50 MB more and is no faster. It grows when enough has survived a collection, so this
// makes what survives, and has it stay as it is then.
var youngBytes = 4 * 1024 * 1024;
function youngSize(v8) {
  var spaces = v8.getHeapSpaceStatistics();
  for (var at = 0; at < spaces.length; at++) if (spaces[at].space_name === 'new_space') return spaces[at].space_size;
  return youngBytes;
}
function settleYoungGeneration() {
  var v8 = process.getBuiltinModule('node:v8');
  var kept = [];
  for (var tries = 0; tries < 100 && youngSize(v8) < youngBytes; tries++) {
    // Few and large: what survives is copied.
    for (var at = 0; at < 4; at++) kept.push(Array(8000).fill(0));
  }
  v8.setFlagsFromString('--semi-space-growth-factor=1');
}
// What of Node a pass needs in any case. Once a flag of V8 is set, Node takes none of its own modules from the code that its binary has for them:
// it compiles their text, and makes such code of it that nobody reads.
var needed = ['crypto', 'fs/promises', 'net', 'os', 'perf_hooks', 'timers/promises', 'util', 'vm', 'zlib'];
// What a start runs is run once: V8 optimises nothing until the process has taken so much CPU time, or for that long at most. A sync with nothing to send
// is over by then, and a daemon whose first pass is small loads no part of the binary that optimises (5 MB). Longer passes show no
// difference. Maglev is off in Node 22, and stays so.
var hasMaglev = found[0] >= 24;
// While threads read a file, TurboFan would take the cores from them, once for each thread: a fifth of the CPU time of a pass over 11 M rows. Maglev, which
// compiles in a tenth of the time, is enough for what they do there; what is done for each row is WebAssembly.
var holders = 0;
var isStarted = false;
function setOptimizers() {
  var v8 = process.getBuiltinModule('node:v8');
  v8.setFlagsFromString(isStarted && holders === 0 ? '--opt' : '--no-opt');
  if (hasMaglev) v8.setFlagsFromString(isStarted ? '--maglev' : '--no-maglev');
}
function optimizeAfter(cpuMs, mostMs) {
  setOptimizers();
  var timer = setInterval(function () {
    var used = process.cpuUsage();
    if (process.uptime() * 1000 < mostMs && (used.user + used.system) / 1000 < cpuMs) return;
    clearInterval(timer);
    isStarted = true;
    setOptimizers();
  }, 25);
  timer.unref();
  if (!hasMaglev) return;
  // Called by src/compose/optimizer.ts. What it returns ends the hold.
  globalThis[Symbol.for('driver-sync.holdOptimizer')] = function () {
    if (holders++ === 0) setOptimizers();
    return function () {
      if (--holders === 0) setOptimizers();
    };
  };
}

if (['run', 'sync', 'rollback'].indexOf(process.argv[2]) >= 0) {
  for (var at = 0; at < needed.length; at++) process.getBuiltinModule('node:' + needed[at]);
  settleYoungGeneration();
  if (process.argv[2] === 'run') optimizeAfter(1000, 10000);
  else optimizeAfter(300, 1000);
}

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
