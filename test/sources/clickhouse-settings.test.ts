import { expect, test } from 'vitest';
import { parseSettings, settingsToSend } from '../../src/sources/databases/clickhouse-settings.ts';

const place = 'http://reader@localhost/books';

/** What the agent sends where a server answers so. */
const sent = (said: string): Readonly<Record<string, string>> => settingsToSend(parseSettings(said), place);

test('settings of ClickHouse are sent where they are others, and only those that the server has', () => {
  expect(sent('readonly\t0\nlimit\t0\nextremes\t1\nformat_tsv_null_representation\t\\N\n')).toEqual({
    readonly: '2',
    extremes: '0',
  });
});

test('a limit of ClickHouse that somebody set is taken back, though every statement reads 0 in its place', () => {
  expect(sent('readonly\t2\nlimit\t?\noffset\t?\n')).toEqual({ limit: '0', offset: '0' });
});

test('a profile of ClickHouse that sets a limit and lets nothing be set is refused, and the message says what to set', () => {
  expect(() => sent('readonly\t1\nlimit\t?\noffset\t?\n')).toThrow(
    expect.objectContaining({
      code: 'source.unreadable',
      message: `${place}: the profile of the user sets limit or offset`,
      hint: 'leave limit and offset out there, or say readonly = 2, with which the agent may set it itself',
    }),
  );
});
