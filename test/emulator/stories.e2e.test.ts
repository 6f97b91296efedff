/** How suites of others use the emulator: Node's own runner, CommonJS and Python, each with fixtures, time, faults and bodies. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { builtFolder, executable } from '../support/built.ts';
import { temporaryDirectory } from '../support/emulator-world.ts';

/** The PATH may lead to a Python without the package that the system's own has. */
const python = ['python3', '/usr/bin/python3'].find(
  (program) => spawnSync(program, ['-c', 'import requests']).status === 0,
);

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
import gzip, json, re, subprocess, sys, unittest
import requests
from requests.adapters import HTTPAdapter
from urllib3.util.retry import Retry

UPDATE = {'extDrivers': [{'id': 'a', 'path': ['A'], 'timeSeries': [{'time': '0', 'value': '1'}]}]}

class Story(unittest.TestCase):
    def setUp(self):
        self.http = requests.Session()
        self.addCleanup(self.http.close)
        self.assertEqual(self.http.post(url + '/_emulator/snapshots/fixtures/restore').status_code, 204)

    def push(self, **more):
        return self.http.post(url + '/api/extDrivers/update', json=UPDATE, **more)

    def held(self):
        return [driver['id'] for driver in self.http.get(url + '/_emulator/drivers').json()['drivers']]

    def test_a_task_takes_five_seconds(self):
        body = {'configId': 'draft', 'input': {'promptText': 'waves'}}
        made = self.http.post(url + '/v1/generate/video', json=body).json()
        status = lambda: self.http.get(url + '/v1/tasks/' + made['id']).json()['status']
        self.assertEqual(status(), 'PENDING')
        self.http.post(url + '/_emulator/advance', json={'seconds': 5})
        self.assertEqual(status(), 'SUCCEEDED')
        sent = self.http.get(url + '/_emulator/requests').json()['requests'][-1]
        self.assertIn('waves', sent['requestBody']['text'])
        self.assertEqual(sent['headers']['content-type'], 'application/json')

    def test_a_refusal_passes(self):
        self.http.post(url + '/_emulator/faults', json={'status': 503})
        refused = self.push()
        self.assertEqual(refused.status_code, 503)
        self.assertIn('a fault', refused.json()['error'])
        with self.assertRaises(requests.HTTPError):
            refused.raise_for_status()
        self.assertEqual(self.push().status_code, 200)
        self.assertEqual(self.held(), ['a'])

    def test_a_session_that_tries_again_gets_through_a_bad_hour(self):
        again = Retry(total=5, status_forcelist=[503], allowed_methods=None, backoff_factor=0)
        self.http.mount(url, HTTPAdapter(max_retries=again))
        self.http.post(url + '/_emulator/faults', json=[{'status': 503, 'retryAfter': 0, 'times': 2}, {'drop': 'before'}])
        self.assertEqual(self.push().status_code, 200)
        statuses = [sent['status'] for sent in self.http.get(url + '/_emulator/requests').json()['requests']]
        self.assertEqual(statuses, [200, None, 503, 503])

    def test_a_connection_that_breaks_is_an_error(self):
        for fault in [{'drop': 'after'}, {'reset': 'before'}]:
            self.http.post(url + '/_emulator/faults', json=fault)
            with self.assertRaises(requests.ConnectionError, msg=fault):
                self.push()
        self.assertEqual(self.held(), ['a'])

    def test_an_answer_that_is_cut_cannot_be_read(self):
        self.http.post(url + '/_emulator/faults', json={'status': 500, 'truncate': 5})
        # Before version 2.32 the answer itself is no error yet.
        with self.assertRaises(requests.RequestException):
            self.push().json()

    def test_bodies_may_be_compressed_or_streamed(self):
        text = json.dumps(UPDATE).encode()
        for sent in [{'data': gzip.compress(text), 'headers': {'content-encoding': 'gzip'}}, {'data': iter([text[:20], text[20:]])}]:
            self.assertEqual(self.http.post(url + '/api/extDrivers/update', **sent).status_code, 200)

    def test_every_test_begins_with_the_same(self):
        self.assertEqual(self.held(), [])
        self.assertEqual(self.http.get(url + '/_emulator/clock').json()['now'], '2026-03-01T00:00:00.000Z')

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

test.skipIf(python === undefined && process.env['CI'] === undefined)(
  "Python's requests (skipped where they are not installed)",
  async () => {
    const project = await projectWith('story.py', storyOfPython);
    const { code, said } = await outcomeOf(project, python ?? 'python3', ['story.py', process.execPath, executable]);
    expect({ code, said }).toMatchObject({ code: 0, said: expect.stringContaining('Ran 7 tests') });
  },
);
