import { describe, expect, test } from 'vitest';
import { longFile, longSource, world } from '../support/world.ts';

describe('a month is pushed as one fixed moment, in UTC whatever the zone', () => {
  test.each([
    ['start', ['2024-02-01T00:00:00Z', '2025-12-01T00:00:00Z', '1969-02-01T00:00:00Z']],
    ['middle', ['2024-02-15T12:00:00Z', '2025-12-15T12:00:00Z', '1969-02-15T12:00:00Z']],
    ['end', ['2024-02-29T23:59:59Z', '2025-12-31T23:59:59Z', '1969-02-28T23:59:59Z']],
  ])('%s', async (stamp, moments) => {
    const config = {
      timezone: 'Pacific/Kiritimati',
      destination: { stamp },
      sources: { revenue: longSource('a.csv') },
    };
    const text = longFile({ North: { '2024-02': 1, '2025-12': 2, '1969-02': 3 } });
    await using made = await world({ config, files: { 'a.csv': text } });
    await made.sync();
    const times = made.drivers().flatMap(({ timeSeries }) => timeSeries.map(({ time }) => time));
    expect(times.toSorted()).toEqual(moments.map((moment) => String(Date.parse(moment) / 1000)).toSorted());
  });
});
