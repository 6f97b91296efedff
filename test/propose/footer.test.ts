/** What `init --from` proposes for what stands below the data: totals, notes, and records that are called like totals. */
import { describe, expect, test } from 'vitest';
import { lines, proposed } from '../support/proposals.ts';

const months = ['2024-01', '2024-02', '2024-03', '2024-04'];

/** One row a month for each name. */
function long(...names: readonly string[]): string {
  return lines(
    'Region,Month,Amount',
    ...names.flatMap((name) => months.map((month, at) => `${name},${month},10${at}`)),
  );
}

describe('records whose name begins like a total', () => {
  const names = ['Total Wine', 'Sum Insured', 'Summe Nord GmbH', 'Gesamt-Apotheke', 'Totals & Sons', 'Somme Picardie'];

  test.each(names)('stay where they are the last ones of a long table, and are asked about: %s', (name) => {
    const { source, sources } = proposed({ 'a.csv': long('Adobe', 'Siemens', name) });
    expect(source).not.toHaveProperty('footer');
    expect(source).not.toHaveProperty('where');
    expect(sources[0]?.undecided).toEqual([
      `whether rows of "Region" are totals or results of others, and would count twice: then write beside "files" where: { "Region": { not: [ "${name}" ] } }`,
    ]);
  });

  test.each(names)('stay in the last row of a wide table: %s', (name) => {
    const text = lines('Account;2024-01;2024-02', 'Rent;1;2', 'Staff;3;4', `${name};5;6`);
    const { source, sources } = proposed({ 'a.csv': text });
    expect(source).not.toHaveProperty('footer');
    expect(source).not.toHaveProperty('where');
    expect(sources[0]?.undecided.join()).toContain('whether rows of "Account" are totals');
  });

  test('stay where their number is missing as yet, and where others have no region either', () => {
    const rows = ['Adobe,North,2024-01,1', 'Adobe,North,2024-02,2', 'Siemens,,2024-01,3', 'Siemens,North,2024-02,4'];
    const header = 'Customer,Region,Month,Amount';
    for (const last of ['Total Wine,North,2024-02,', 'Total Wine,,2024-02,5']) {
      expect(proposed({ 'a.csv': lines(header, ...rows, last) }).source).not.toHaveProperty('footer');
    }
  });

  test('are cut off where they lack the date that all others have', () => {
    const text = lines('Region,Month,Amount', 'East,2024-01,1', 'West,2024-01,2', 'Total revenue,,3');
    expect(proposed({ 'a.csv': text }).source).toMatchObject({ footer: 1 });
  });
});

describe('totals that look like records', () => {
  test.each(['Total', 'TOTAL:', 'Grand total', 'Summe (EUR)', 'Gesamt in TEUR', 'Total général', '** Sum **'])(
    'are left out by their name, one row a month: %s',
    (name) => {
      const { source, sources, text } = proposed({ 'a.csv': long('East', 'West', name) });
      expect(source).toMatchObject({ where: { Region: { not: [name] } } });
      expect(source).not.toHaveProperty('footer');
      expect(text).toContain('# totals of the other rows, by their name\n');
      expect(sources[0]?.undecided).toEqual([
        `whether rows of "Region" that are called ${JSON.stringify(name)} are totals of the others: "where" leaves them out; take it away where they are not`,
      ]);
    },
  );

  test('are left out by their name in the last row of a wide table', () => {
    const { source } = proposed({ 'a.csv': lines(',2024-01,2024-02', 'Rent,1,2', 'Staff,3,4', 'Total,4,6') });
    expect(source).toMatchObject({ where: { '#1': { not: ['Total'] } }, drivers: [{ path: ['A', '{#1}'] }] });
    expect(source).not.toHaveProperty('footer');
  });

  test('are left out beside notes below them, and beside periods that have no month', () => {
    const rows = ['East', 'West', 'Total'].flatMap((name) =>
      Array.from({ length: 13 }, (_, at) => `${name},2026,${at + 1},${at}.5`),
    );
    const { source, text } = proposed({
      'a.csv': lines('Region,Year,Month,Amount', ...rows, 'Exported on 2026-04-01', 'by SAP'),
    });
    expect(source).toMatchObject({ where: { Region: { not: ['Total'] }, Month: { not: ['13'] } }, footer: 2 });
    expect(text).toContain('totals of the other rows, by their name; periods without a month of their own');
  });

  test('of one file do not make it a shape of its own', () => {
    const { config } = proposed({ 'a-2023.csv': long('East', 'West'), 'a-2024.csv': long('East', 'West', 'Total') });
    expect(Object.values(config.sources)).toMatchObject([{ where: { Region: { not: ['Total'] } } }]);
  });

  test('are below the table where a line of strokes says so, or a date is missing', () => {
    const wide = ['Account,2024-01,2024-02', 'Rent,1,2', 'Staff,3,4', '---,---,---', 'Total,4,6'];
    expect(proposed({ 'a.csv': lines(...wide) }).source).toMatchObject({ footer: 2 });
    const dated = ['Month,Amount', '2024-01,1', '2024-02,2', 'Total,3'];
    expect(proposed({ 'a.csv': lines(...dated) }).source).toMatchObject({ footer: 1 });
  });
});

test('a last record with another code, or with a name that stands above it, is no footer', () => {
  const coded = ['Customer,Month,Amount', '4711,2024-01,1', '4712,2024-01,2', '4713,2024-01,2', 'X12,2024-02,'];
  expect(proposed({ 'a.csv': lines(...coded) }).source).not.toHaveProperty('footer');
  const grouped = ['group,account,2024-01,2024-02,2024-03,2024-04', 'Costs,Rent,1,2,3,4', ',Staff,3,4,5,6'];
  expect(proposed({ 'a.csv': lines(...grouped, ',Web,,,,7') }).source).not.toHaveProperty('footer');
});

test('notes below the data that a program filled up with delimiters are no records', () => {
  const rows = ['Month,City,Amount', '2024-01,Bonn,1', '2024-01,Kiel,2', '2024-02,Bonn,2', 'Exported on 2024-03-01,,'];
  expect(proposed({ 'a.csv': lines(...rows) }).source).toMatchObject({ footer: 1 });
});
