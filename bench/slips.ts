/**
 * How many slips the value guard finds, with the right name, group and factor, and how many ordinary updates it holds:
 * `node bench/slips.ts [--seed N] [--cases N] [--data FOLDER] [--missed]`. Equal seeds give equal tables.
 */
import { parseArgs } from 'node:util';
import type { Finding } from '../src/core/values/finding.ts';
import { ValueReview } from '../src/core/values/review.ts';
import { diffDrivers, pairDrivers } from '../src/core/series/diff.ts';
import { type PackedDriver, packDriver } from '../src/core/series/packing.ts';
import { describeFindings } from '../src/core/values/words.ts';
import { type Slip, planted, slipNames } from './slip-cases.ts';
import { type Update, ordinary } from './slip-updates.ts';
import { type Export, type NamedExport, exportsOf, generatedExports, pick, seeded } from './slip-exports.ts';

const usage = `node bench/slips.ts [OPTION...]

  --seed N       draws other cases (1)
  --cases N      how many slips, and how many ordinary updates (1000)
  --data FOLDER  takes the exports from .csv files with the columns path, month and value; default: generated ones
  --missed       prints every case that came out wrong
`;

const { values: options } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    cases: { type: 'string', default: '1000' },
    data: { type: 'string' },
    missed: { type: 'boolean', default: false },
  },
});

function packed(data: Export): readonly PackedDriver[] {
  const place = { seconds: 0, nanos: 0, row: 1, part: 1 };
  return [...data]
    .filter(([, points]) => points.size > 0)
    .map(([id, points]) => {
      const cells = [...points]
        .sort(([a], [b]) => a - b)
        .map(([month, value]) => ({ month, value, text: value, count: 1, ...place }));
      const path = JSON.parse(id) as string[];
      return packDriver({ id, path, rule: 'last', pathPlace: place, otherPath: undefined, cells });
    })
    .sort((a, b) => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id)));
}

function findingsIn({ before, after }: Update, closedUpTo?: number): readonly Finding[] {
  const [old, now] = [packed(before), packed(after)];
  const review = new ValueReview({ isJudged: true, closedUpTo, deletes: true });
  for (const change of diffDrivers(old, now)) review.see(change);
  return review.findings(() => pairDrivers(old, now));
}

/** Whether a finding names the drivers of a slip and no others that have values to show it. */
function namesGroup({ group }: Finding, slip: Slip): boolean {
  if (JSON.stringify(group) === JSON.stringify(slip.group)) return true;
  const isIn = (key: string): boolean => {
    const path = JSON.parse(key) as string[];
    return group.every((element, at) => path[at] === element);
  };
  const isOfSlip = (key: string): boolean =>
    slip.group.every((element, at) => (JSON.parse(key) as string[])[at] === element);
  if ([...slip.before.keys()].every((key) => isIn(key) === isOfSlip(key))) return true;
  const both = [...slip.before.keys()].filter((key) => slip.after.has(key));
  const hasValues = (key: string): boolean =>
    [...(slip.before.get(key)?.values() ?? [])].some((text) => /[1-9]/.test(text));
  return both.filter(hasValues).every((key) => isIn(key) === slip.drivers.has(key));
}

function isNamed(finding: Finding, slip: Slip): boolean {
  if (finding.kind !== slip.kind) return false;
  if (slip.months !== undefined && finding.months !== slip.months) return false;
  if (slip.factor === undefined) return true;
  const error = Number(finding.factor) / Number(slip.factor) - 1;
  return Math.abs(error) < (Number.isInteger(Math.log10(Math.abs(Number(slip.factor)))) ? 1e-9 : 0.01);
}

interface Row {
  cases: number;
  held: number;
  right: number;
  /** Nothing of another kind was named beside it. */
  alone: number;
}

function main(): void {
  const random = seeded(Number(options.seed));
  const cases = Number(options.cases);
  const given = options.data === undefined ? undefined : exportsOf(options.data);
  const draw = (): NamedExport => pick(random, given ?? generatedExports(random));
  const slips = new Map<string, Row>(slipNames.map((name) => [name, { cases: 0, held: 0, right: 0, alone: 0 }]));
  for (let done = 0, tries = 0; done < cases && tries < cases * 50; tries++) {
    const from = draw();
    const slip = planted(random, from, slipNames[done % slipNames.length] as string);
    if (slip === undefined) continue;
    done++;
    const row = slips.get(slip.name) as Row;
    const found = findingsIn(slip, slip.closedUpTo);
    const isRight = found.some((finding) => isNamed(finding, slip) && namesGroup(finding, slip));
    row.cases++;
    if (found.length > 0) row.held++;
    if (isRight) row.right++;
    const isAlone = isRight && found.every(({ kind }) => kind === slip.kind);
    if (isAlone) row.alone++;
    if (isRight && !isAlone && options.missed)
      console.log(`beside: ${slip.name} in ${from.name}: ${describeFindings(found)}`);
    if (!isRight && options.missed) {
      console.log(
        `missed: ${slip.name} (${slip.factor ?? slip.months ?? ''}) in ${from.name}, ${JSON.stringify(slip.group)}, ${slip.drivers.size} drivers: ${describeFindings(found) || 'nothing'}`,
      );
    }
  }
  const updates = new Map<string, { cases: number; held: number }>();
  for (let done = 0; done < cases; done++) {
    const from = draw();
    const update = ordinary(random, from);
    const row = updates.get(update.name) ?? { cases: 0, held: 0 };
    updates.set(update.name, row);
    const found = findingsIn(update);
    row.cases++;
    if (found.length > 0) row.held++;
    if (found.length > 0 && options.missed)
      console.log(`held: ${update.name} in ${from.name}: ${describeFindings(found)}`);
  }
  show(slips, updates);
}

function show(slips: ReadonlyMap<string, Row>, updates: ReadonlyMap<string, { cases: number; held: number }>): void {
  const sum = (of: (row: Row) => number): number => [...slips.values()].reduce((total, row) => total + of(row), 0);
  console.log(
    '| planted slip | cases | held | with the right name, group and factor | and nothing else |\n|---|---:|---:|---:|---:|',
  );
  for (const [name, { cases, held, right, alone }] of slips)
    console.log(`| ${name} | ${cases} | ${held} | ${right} | ${alone} |`);
  console.log(
    `| all | ${sum((row) => row.cases)} | ${sum((row) => row.held)} | ${sum((row) => row.right)} | ${sum((row) => row.alone)} |\n`,
  );
  console.log('| ordinary update | cases | held |\n|---|---:|---:|');
  let [cases, held] = [0, 0];
  for (const [name, row] of [...updates].sort(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`| ${name} | ${row.cases} | ${row.held} |`);
    cases += row.cases;
    held += row.held;
  }
  console.log(`| all | ${cases} | ${held} |`);
}

if (options.help) console.log(usage);
else main();
