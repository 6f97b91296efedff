#!/usr/bin/env node
// Plain old JavaScript on purpose: an older Node must be able to read this file far enough to say why it stops.
import fs from 'node:fs';
import module from 'node:module';

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

// Dates are read with local getters in places; one zone for the process makes them mean UTC everywhere.
process.env.TZ = 'UTC';
if (module.enableCompileCache) module.enableCompileCache();

var source = new URL('../src/main.ts', import.meta.url);
import(fs.existsSync(source) ? source.href : new URL('../dist/main.js', import.meta.url).href);
