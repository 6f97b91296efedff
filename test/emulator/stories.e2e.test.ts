/** How suites of others use the emulator: Node's own runner, CommonJS and Python, each with fixtures, time, faults and bodies. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { builtFolder, executable } from '../support/built.ts';
import { temporaryDirectory } from '../support/emulator-world.ts';

const hasPython = spawnSync('python3', ['--version']).status === 0;

/** A project that has the package installed. */
async function projectWith(name: string, story: string): Promise<string> {
  const project = await temporaryDirectory();
  await mkdir(join(project, 'node_modules'));
  await symlink(builtFolder, join(project, 'node_modules/driver-sync'));
  await writeFile(join(project, name), story);
  return project;
}

/** What a program prints, and how it ends. Programs run beside the tests, so nothing here waits for them in one piece. */
async function outcomeOf(
  cwd: string,
  command: string,
  args: readonly string[],
): Promise<{ code: number; said: string }> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const child = spawn(command, args, { cwd, env: { ...env, NO_COLOR: '1' } });
  const said = Promise.all([text(child.stdout), text(child.stderr)]);
  const code = await new Promise<number>((resolve) => child.once('exit', (status) => resolve(status ?? -1)));
  return { code, said: (await said).join('\n') };
}

const storyOfNode = (load: string) => `
const assert = require('node:assert/strict');
const { after, afterEach, before, test } = require('node:test');
${load}
let emulator;
const post = async (path, body) => {
  const response = await fetch(emulator.url + path, { method: 'POST', body: JSON.stringify(body) });
  return { status: response.status, body: await response.json().catch(() => undefined) };
};
before(async () => {
  const { startEmulator } = await load();
  emulator = await startEmulator();
  emulator.load({ routers: [{ slug: 'draft', name: 'Draft' }], now: '2026-03-01T00:00:00Z', speed: 0 });
  emulator.snapshot('begin');
});
afterEach(() => emulator.restore('begin'));
after(() => emulator.close());

test('a task takes five seconds', async () => {
  const { body } = await post('/v1/generate/video', { configId: 'draft', input: { promptText: 'waves' } });
  const status = async () => (await (await fetch(emulator.url + '/v1/tasks/' + body.id)).json()).status;
  assert.equal(await status(), 'PENDING');
  emulator.advance(5);
  assert.equal(await status(), 'SUCCEEDED');
  assert.match(emulator.requests().at(-1).requestBody.text, /waves/);
});

test('a refusal passes', async () => {
  emulator.faults({ status: 503, retryAfter: 1 });
  const update = { extDrivers: [{ id: 'a', path: ['A'], timeSeries: [{ time: '0', value: '1' }] }] };
  assert.equal((await post('/api/extDrivers/update', update)).status, 503);
  assert.equal((await post('/api/extDrivers/update', update)).status, 200);
  assert.equal(emulator.drivers().length, 1);
});

test('every test begins with the same', () => {
  assert.deepEqual(emulator.drivers(), []);
  assert.equal(emulator.clock().now.toISOString(), '2026-03-01T00:00:00.000Z');
});
`;

test.for([
  ['import', "const load = () => import('driver-sync/emulator');"],
  ['require', "const load = () => require('driver-sync/emulator');"],
] as const)("Node's own runner, with %s", async ([, load]) => {
  const project = await projectWith('story.test.cjs', storyOfNode(load));
  const { code, said } = await outcomeOf(project, process.execPath, ['--test', 'story.test.cjs']);
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringMatching(/pass 3/) });
});

test('CommonJS has all that an import has', async () => {
  const project = await projectWith(
    'names.cjs',
    `import('driver-sync/emulator').then((imported) => {
       const required = require('driver-sync/emulator');
       console.log(Object.keys(imported).filter((name) => !(name in required)).length, required.startEmulator === imported.startEmulator);
     });`,
  );
  expect(await outcomeOf(project, process.execPath, ['names.cjs'])).toMatchObject({ code: 0, said: '0 true\n\n' });
});

/** As Jest does it: a sandbox whose modules cannot load ES modules. */
const sandbox = `
const { readFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const vm = require('node:vm');
const file = join(__dirname, 'node_modules/driver-sync/bin/emulator.cjs');
const refusing = { createRequire: () => () => { throw new Error('Must use import to load ES Module'); } };
const getBuiltinModule = (name) => (name === 'node:module' ? refusing : process.getBuiltinModule(name));
const context = vm.createContext({ process: { env: { JEST_WORKER_ID: '1' }, getBuiltinModule } });
const module_ = { exports: {} };
const wrapped = vm.runInContext('(function (module, __filename, __dirname) {' + readFileSync(file, 'utf8') + '\\n})', context);
wrapped(module_, file, dirname(require('node:fs').realpathSync(file)));
module_.exports.startEmulator({ speed: 0 }).then(async (emulator) => {
  console.log((await fetch(emulator.url + '/_emulator/health')).status);
  await emulator.close();
});
`;

test("a sandbox as Jest's starts it too", async () => {
  const project = await projectWith('sandbox.cjs', sandbox);
  const { code, said } = await outcomeOf(project, process.execPath, ['sandbox.cjs']);
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringMatching(/^200\n/) });
});

const storyOfPython = `
import json, re, subprocess, sys, unittest, urllib.error, urllib.request

def call(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data=data, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
            return answer.status, json.loads(text) if text else None
    except urllib.error.HTTPError as refusal:
        return refusal.code, json.loads(refusal.read())

class Story(unittest.TestCase):
    def setUp(self):
        self.assertEqual(call('POST', '/_emulator/snapshots/fixtures/restore')[0], 204)

    def test_a_task_takes_five_seconds(self):
        _, made = call('POST', '/v1/generate/video', {'configId': 'draft', 'input': {'promptText': 'waves'}})
        self.assertEqual(call('GET', '/v1/tasks/' + made['id'])[1]['status'], 'PENDING')
        call('POST', '/_emulator/advance', {'seconds': 5})
        self.assertEqual(call('GET', '/v1/tasks/' + made['id'])[1]['status'], 'SUCCEEDED')
        sent = call('GET', '/_emulator/requests')[1]['requests'][-1]
        self.assertIn('waves', sent['requestBody']['text'])

    def test_a_refusal_passes(self):
        call('POST', '/_emulator/faults', {'status': 503})
        update = {'extDrivers': [{'id': 'a', 'path': ['A'], 'timeSeries': [{'time': '0', 'value': '1'}]}]}
        self.assertEqual(call('POST', '/api/extDrivers/update', update)[0], 503)
        self.assertEqual(call('POST', '/api/extDrivers/update', update)[0], 200)
        self.assertEqual(len(call('GET', '/_emulator/drivers')[1]['drivers']), 1)

    def test_every_test_begins_with_the_same(self):
        self.assertEqual(call('GET', '/_emulator/drivers')[1], {'drivers': []})
        self.assertEqual(call('GET', '/_emulator/clock')[1]['now'], '2026-03-01T00:00:00.000Z')

node, program = sys.argv[1:]
with open('fixtures.json', 'w') as file:
    json.dump({'routers': [{'slug': 'draft', 'name': 'Draft'}], 'now': '2026-03-01T00:00:00Z', 'speed': 0}, file)
emulator = subprocess.Popen(
    [node, program, 'emulator', '--listen', '127.0.0.1:0', '--fixtures', 'fixtures.json'], stdout=subprocess.PIPE, text=True)
url = re.search('http://[^ \\\\n]+', emulator.stdout.readline()).group()
try:
    unittest.main(argv=['story'])
finally:
    emulator.terminate()
`;

test.skipIf(!hasPython && process.env['CI'] === undefined)('Python (skipped where there is no python3)', async () => {
  const project = await projectWith('story.py', storyOfPython);
  const { code, said } = await outcomeOf(project, 'python3', ['story.py', process.execPath, executable]);
  expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('Ran 3 tests') });
});
