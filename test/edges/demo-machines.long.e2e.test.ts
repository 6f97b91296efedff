/** The demonstration of several machines shows what it says, and leaves nothing behind. */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../support/built.ts';
import { startProcess } from '../support/process.ts';
import { cannotPostgres, postgresName } from '../support/servers.ts';

interface Shown {
  readonly name: string;
  readonly page: string;
  readonly pid: number;
  readonly file: string;
}

test.skipIf(cannotPostgres)(
  `npm run demo:machines, with ${postgresName}: another agent takes over from the one that is killed`,
  async () => {
    await using demo = startProcess([path.join(root, 'test/support/demo-machines.ts')], root);
    await demo.says(/receiver {2}http\S+\/console/);
    const machines: Shown[] = [];
    for (const name of ['finance-1', 'finance-2', 'finance-3']) {
      const [, page = '', pid = '', file = ''] = await demo.says(
        new RegExp(`${name} {2}(\\S+) {2}pid (\\d+) {2}(\\S+)`),
      );
      machines.push({ name, page, pid: Number(pid), file });
    }
    await expect.poll(() => saidOf(machines[2]!.page)).toHaveLength(3);
    process.kill(machines[0]!.pid, 'SIGKILL');
    const [, next] = await demo.says(/(finance-[23]): this agent leads now/);
    const { page } = machines.find(({ name }) => name === next)!;
    expect(await overview(page)).toMatch(/this agent/);
    demo.kill('SIGINT');
    expect(await demo.exit).toMatchObject({ code: 0 });
    expect(machines.filter(({ file }) => existsSync(file))).toEqual([]);
  },
);

async function overview(page: string): Promise<string> {
  return await (await fetch(page)).text();
}

/** The agents that would push what was pushed. */
async function saidOf(page: string): Promise<readonly string[]> {
  return (await overview(page)).match(/would push the same/g) ?? [];
}
