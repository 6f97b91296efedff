/**
 * `npm run build`: the agent as few files. Opening and compiling each of about 500 modules was most of what a start took: 0.39 s of CPU time
 * for a sync with nothing to do, and 0.25 s from these files.
 */
import { cpSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { type ChunkingContext, type Plugin, defineConfig } from 'rolldown';

const source = path.join(import.meta.dirname, 'src');

/** What is loaded from node_modules: native code, files that are found by their place, and what is left to whoever uses it. */
const external = [
  '@clickhouse/client',
  '@duckdb/node-api',
  '@modelcontextprotocol/server',
  'fetch-to-node',
  'mysql2',
  'oidc-provider',
  'pg',
  'pino',
  'pino-pretty',
  'ssh2',
];

/** In a checkout such a `require` loads a package when it is first used; without this line the bundler does the same with its copy. */
const lazyRequire: Plugin = {
  name: 'lazy-require',
  transform(code, id) {
    if (!id.startsWith(source)) return undefined;
    const bundled = code.replace(/^const require = createRequire\(import\.meta\.url\);$/m, '');
    // No map: each line stays where it was.
    return bundled === code ? undefined : { code: bundled, map: null };
  },
};

/**
 * The JavaScript of better-sqlite3, which is 13 files, is part of the built ones (6 ms of a start); its binary stays where it was installed, and is
 * found from there.
 */
const binding: Plugin = {
  name: 'binding',
  transform(code, id) {
    if (!/[\\/]better-sqlite3[\\/]lib[\\/]binding\.js$/.test(id)) return undefined;
    refuseOtherBinary(path.join(id, '../../package.json'));
    // On its first line, so that each line stays where it was; what is cut from the end is for the package's own installation.
    const placed = code
      .replace(/^/, `const folder = require('path').dirname(require.resolve('better-sqlite3/package.json')) + '/lib';`)
      .replaceAll('__dirname', 'folder')
      .replace(/\nif \(require\.main === module\) \{[^]*$/, '');
    return { code: placed, map: null };
  },
};

/** @throws Error unless an installation brings exactly the version whose JavaScript is built in */
function refuseOtherBinary(file: string): void {
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  const own = JSON.parse(readFileSync(path.join(import.meta.dirname, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  const wanted = own.dependencies['better-sqlite3'];
  if (wanted !== version) throw new Error(`better-sqlite3 ${version} is built in, and package.json wants ${wanted}`);
}

/** Asked for at each use, where they are imported whole: most commands need none of them, and they take 2 ms of CPU time each. */
const lateBuiltins: ReadonlySet<string> = new Set(['node:child_process', 'node:v8', 'node:worker_threads']);

/**
 * What is imported of Node itself is asked for by a call, now or later: an import reads all that a module exports, and `crypto`, `fs` or `tls` load
 * much more of Node for what is behind their getters, `http` all of HTTP/2 and of fetch. Saves 15 ms of CPU time at each start.
 */
const builtins: Plugin = {
  name: 'builtins',
  renderChunk(code) {
    const later = code.replaceAll(
      /\bimport\("(node:[^"]+)"\)/g,
      (_import, name) => `Promise.resolve(globalThis.process.getBuiltinModule("${name}"))`,
    );
    const late = new Map<string, string>();
    const called = later.replaceAll(
      /^import (?:([\w$]+)(?:, )?)?(?:\* as ([\w$]+)|\{([^}]*)\})?(?: from )?"(node:[^"]+)";$/gm,
      (_import, ...found: readonly string[]) => {
        const [own, space, names, name = ''] = found;
        const module = `globalThis.process.getBuiltinModule("${name}")`;
        const whole = own ?? space;
        if (whole !== undefined && names === undefined && lateBuiltins.has(name)) {
          late.set(whole, module);
          return '';
        }
        const wanted = [own, space, names === undefined ? undefined : `{${names.replaceAll(' as ', ': ')}}`];
        return wanted.flatMap((what) => (what === undefined ? [] : `const ${what} = ${module};`)).join(' ');
      },
    );
    let used = called;
    for (const [name, module] of late) {
      used = used.replaceAll(
        new RegExp(`(?<![\\w$.])${name.replaceAll('$', '\\$')}\\.(?=\\w)`, 'g'),
        () => `(${module}).`,
      );
    }
    // No map: each line stays where it was.
    return used === code ? null : { code: used, map: null };
  },
};

/**
 * V8 keeps a file with one character beyond Latin-1 as two bytes a character, and a daemon keeps its files: an ellipsis in each of the largest
 * takes 2.6 MB. So the built files have escapes for whatever is not ASCII.
 */
const ascii: Plugin = {
  name: 'ascii',
  // Not in `renderChunk`: the bundler prints texts anew after that.
  generateBundle(_options, bundle) {
    for (const file of Object.values(bundle)) if (file.type === 'chunk') file.code = escaped(file.code);
  },
};

/** @throws Error for what an escape would make another text of */
function escaped(code: string): string {
  const [raw] = /\.raw`[^`]*[^\0-\x7f]/.exec(code) ?? /(?<!\\)(?:\\\\)*\\[^\0-\x7f]/.exec(code) ?? [];
  if (raw !== undefined) throw new Error(`cannot be escaped: ${raw}`);
  return code.replaceAll(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The licences of the packages that are part of the files, and the films of the emulator. */
const notices: Plugin = {
  name: 'notices',
  generateBundle(_options, bundle) {
    const packages = new Set<string>();
    for (const file of Object.values(bundle)) {
      if (file.type !== 'chunk') continue;
      // A package that the bundler could not see through: it would fail where it is first used.
      const [hidden] = /__require\("\.[^"]*"\)/.exec(file.code) ?? [];
      if (hidden !== undefined) throw new Error(`${file.fileName} asks for a file that is not in it: ${hidden}`);
      for (const id of file.moduleIds) {
        const [, folder] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id) ?? [];
        if (folder !== undefined) packages.add(folder);
      }
    }
    const texts = [...packages].toSorted().map(licenceOf);
    this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source: texts.join('\n') });
  },
  writeBundle: ({ dir }) =>
    cpSync(path.join(source, 'emulator/routing/films'), path.join(dir ?? '', 'films'), { recursive: true }),
};

/** @throws Error for a package without a licence: its files must not be copied */
function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as Record<
    string,
    string
  >;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file === undefined) throw new Error(`${name} has no licence file`);
  return `${'='.repeat(80)}\n${name} ${version} (${license})\n\n${readFileSync(path.join(folder, file), 'utf8')}`;
}

/** What so many commands need is one file: a bundler left alone makes fifty for a `sync`, and each is opened on its own. */
const commandsMin = 8;
/** What starts, runs as a thread or a process of its own, or is imported by others, loads nothing that it does not need. */
const apart = /[\\/](main|thread|status-thread|sqlite-child|duckdb-child|emulator[\\/]index)\.ts$/;
/** Processes that start seldom, and may load what a thread needs too: one file less for each other set of them. */
const children: ReadonlySet<string> = new Set(['sqlite-child', 'duckdb-child']);
/** What the thread of the status page loads when it is asked for a page: with the file of most commands it would load the whole agent, 14 MB. */
const pages = /[\\/]src[\\/]status[\\/]/;
/** What a pass needs and few other commands do. */
const passing = /[\\/]cli[\\/]sync\.ts$/;

/** The entries and the modules loaded later that lead to a module. */
function leadingTo(id: string, context: ChunkingContext): ReadonlySet<string> {
  const seen = new Set<string>();
  const leading = new Set<string>();
  const walk = (at: string): void => {
    const info = seen.has(at) ? null : context.getModuleInfo(at);
    seen.add(at);
    if (info === null) return;
    if (info.isEntry || info.dynamicImporters.length > 0) leading.add(at);
    for (const importer of info.importers) walk(importer);
  };
  walk(id);
  return leading;
}

function fileOf(id: string, context: ChunkingContext): string | null {
  const leading = [...leadingTo(id, context)];
  const isPassing = leading.some((entry) => passing.test(entry));
  // What a thread needs too must not bring it the whole pass.
  const isShared = isPassing && leading.some((entry) => apart.test(entry));
  if (leading.length < commandsMin && !isShared) return isPassing ? 'pass' : null;
  // One file for each set of them: whoever needs one of its modules needs all.
  const found = leading.flatMap((entry) => apart.exec(entry)?.[1] ?? []).map((name) => path.basename(name));
  const needed = [...new Set([...found, ...(leading.some((entry) => pages.test(entry)) ? ['status-thread'] : [])])];
  if (needed.includes('main')) return 'agent-main';
  const named: readonly string[] = needed.includes('thread') ? needed.filter((name) => !children.has(name)) : needed;
  return ['agent', ...named.toSorted()].join('-');
}

// All files lie in one folder, so that what a module names beside itself is there: threads, child processes, films.
export default defineConfig({
  input: {
    main: 'src/main.ts',
    emulator: 'src/emulator/index.ts',
    thread: 'src/sources/formats/scan/thread.ts',
    'status-thread': 'src/compose/status-thread.ts',
    'simulate-thread': 'src/cli/simulate-thread.ts',
    'sqlite-child': 'src/sources/databases/sqlite-child.ts',
    'duckdb-child': 'src/sources/databases/duckdb-child.ts',
  },
  platform: 'node',
  external: (id) => external.some((name) => id === name || id.startsWith(`${name}/`)),
  plugins: [lazyRequire, binding, builtins, ascii, notices],
  // Wanted by `includeDependenciesRecursively`.
  preserveEntrySignatures: 'allow-extension',
  output: {
    dir: 'dist',
    codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: fileOf, debugName: 'agent' }] },
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    sourcemap: true,
    // Names and lines stay, so that a person can read a stack in a bug report. Licences have a file of their own.
    comments: false,
    cleanDir: true,
  },
});
