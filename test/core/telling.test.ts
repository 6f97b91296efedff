/** What is told, when, and that it is told once. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { PassReport } from '../../src/core/report.ts';
import { type Listener, type NoticeEvent, noticeEvents } from '../../src/core/telling/notice.ts';
import type { Letter, TellingState } from '../../src/core/telling/record.ts';
import { delivered, failed, newTelling, nextLetter, nextLookMs, tell } from '../../src/core/telling/state.ts';
import { Told, address, everybody, hourMs, known, startMs } from '../support/telling-world.ts';

describe('each thing that is wrong', () => {
  test.each<[NoticeEvent, Parameters<Told['pass']>[0], Parameters<Told['pass']>[0]]>([
    ['held', { held: ['books'] }, { accepted: ['books'] }],
    ['unread', { unread: ['books'] }, { accepted: ['books'] }],
    ['refused', { outcome: 'refused', reason: '401 Unauthorized' }, { outcome: 'acknowledged' }],
    ['stale', { outcome: 'blocked', servedAgoMs: 49 * hourMs }, { outcome: 'acknowledged' }],
  ])('%s is told once when it starts, and once when it is over', (event, wrong, right) => {
    const told = new Told();
    const name = event === 'held' || event === 'unread' ? `${event} books` : event;
    expect(told.pass(right)).toEqual([]);
    expect(told.pass(wrong)).toEqual([`${name} started`]);
    expect(told.pass(wrong)).toEqual([]);
    expect(told.pass(right)).toEqual([`${name} ended`]);
    expect(told.pass(right)).toEqual([]);
    expect(told.pass(wrong)).toEqual([`${name} started`]);
  });

  test('a service that is not reached is told after an hour, and not at all where it comes back before', () => {
    const told = new Told();
    const lost = { outcome: 'unreachable', reason: 'the connection was refused', servedAgoMs: 60_000 } as const;
    expect(told.pass(lost)).toEqual([]);
    expect(told.pass({ ...lost, outcome: 'unknown' }, 59 * 60_000)).toEqual([]);
    expect(told.pass({ outcome: 'acknowledged' })).toEqual([]);
    expect(told.pass(lost)).toEqual([]);
    expect(told.pass(lost, hourMs)).toEqual(['unreachable started']);
    expect(told.pass({ outcome: 'acknowledged' })).toEqual(['unreachable ended']);
  });

  test('a machine that sees other data is told after two minutes, by its name, and when it sees the same or is gone', () => {
    const told = new Told();
    const same = { machines: ['books-1', 'books-2'] };
    const other = { ...same, differing: ['books-2'] };
    expect(told.pass(other)).toEqual([]);
    expect(told.pass(same)).toEqual([]);
    expect(told.pass(other)).toEqual([]);
    expect(told.pass(other, 120_000)).toEqual(['differs books-2 started']);
    expect(told.state.outbox.at(-1)?.notice).toMatchObject({
      text: 'the agent on books-2 does not see what the one that leads sees: it cannot read books',
      hint: expect.stringContaining('is a mount missing') as string,
    });
    expect(told.pass({ ...other, address: 'https://b.example' })).toEqual([]);
    expect(told.pass({ ...same, address: 'https://b.example' })).toEqual(['differs books-2 ended']);
    expect(told.state.outbox.at(-1)?.notice.text).toBe('the agent on books-2 sees what the one that leads sees');
    told.pass(other);
    told.pass(other, 120_000);
    expect(told.pass({ machines: ['books-1'] })).toEqual(['differs books-2 ended']);
    expect(told.state.outbox.at(-1)?.notice.text).toBe('no agent runs on books-2 any more');
  });

  test('where agents share a ledger the next look is in a minute: what the others see changes without a pass', () => {
    const told = new Told();
    told.pass({ machines: ['books-1', 'books-2'] });
    const now = known(told.nowMs, { machines: ['books-1', 'books-2'] });
    expect(nextLookMs(told.state, now)).toBe(told.nowMs + 60_000);
  });

  test('a pass that tries no push does not say that a failed one is over', () => {
    const told = new Told();
    expect(told.pass({ outcome: 'refused' })).toEqual(['refused started']);
    expect(told.pass({ outcome: 'blocked' })).toEqual([]);
    expect(told.pass({ outcome: 'unreachable' })).toEqual([]);
    expect(told.pass({ outcome: 'acknowledged' })).toEqual(['refused ended']);
  });

  test('a service that refuses has been reached', () => {
    const told = new Told();
    told.pass({ outcome: 'unreachable' });
    told.pass({ outcome: 'unreachable' }, hourMs);
    expect(told.pass({ outcome: 'refused' })).toEqual(['unreachable ended', 'refused started']);
  });

  test('an address where nothing was acknowledged yet has twice the schedule too', () => {
    const told = new Told();
    expect(told.pass({ outcome: 'blocked', servedAgoMs: null }, 47 * hourMs)).toEqual([]);
    expect(told.pass({ outcome: 'blocked', servedAgoMs: null }, hourMs)).toEqual(['stale started']);
  });

  test('what was said of one address is over when pushes go to another one', () => {
    const told = new Told();
    told.pass({ outcome: 'refused', unread: ['books'] });
    const there = { outcome: 'refused', unread: ['books'], address: 'https://b.example' } as const;
    expect(told.pass(there)).toEqual(['refused ended', 'refused started']);
  });

  test('a source that left the config is over with it', () => {
    const told = new Told();
    told.pass({ unread: ['books'] });
    expect(told.pass({})).toEqual(['unread books ended']);
    expect(told.state.outbox.at(-1)?.notice.text).toBe('source "books" is not in the config any more');
  });
});

describe('the words', () => {
  test('say what is wrong, what to do, and about which service and machine', () => {
    const told = new Told();
    told.pass({ held: ['books'], unread: ['staff'] });
    expect(told.state.outbox.map(({ notice }) => notice)).toEqual([
      {
        event: 'held',
        state: 'started',
        source: 'books',
        text: 'source "books" is held: it is too much',
        hint: 'look at it; approve it with: driver-sync approve books0000000',
        digest: 'books'.padEnd(64, '0'),
        at: '2026-03-15T12:01:00.000Z',
        host: 'books-1',
        address,
      },
      {
        event: 'unread',
        state: 'started',
        source: 'staff',
        text: 'source "staff" is not read: it is gone; its accepted data stays in every snapshot',
        hint: 'mend staff',
        at: '2026-03-15T12:01:00.000Z',
        host: 'books-1',
        address,
      },
    ]);
  });

  test('of data forge no line and flood none', () => {
    const told = new Told();
    told.pass({ outcome: 'refused', reason: `a\nSubject: b\u202e ${'x'.repeat(5000)}` });
    const { text = '' } = told.state.outbox[0]?.notice ?? {};
    expect(text).toMatch(/^the service refused the push: a\\nSubject: b\\u202e x+…$/);
    expect(text.length).toBeLessThan(2100);
  });

  test('are cut between characters, never within one', () => {
    const told = new Told();
    for (const reason of ['😀'.repeat(1500), `x${'😀'.repeat(1500)}`]) {
      told.pass({ outcome: 'refused', reason });
      told.pass({ outcome: 'unchanged' });
    }
    for (const { notice } of told.state.outbox) expect(notice.text.isWellFormed()).toBe(true);
  });
});

test('a source that was not read, left the config and is held for that is not said to be read again', () => {
  const told = new Told();
  told.pass({ unread: ['books'] });
  told.pass({ held: ['books'] });
  expect(told.state.outbox[1]?.notice).toMatchObject({
    event: 'unread',
    state: 'ended',
    text: expect.stringMatching(/^source "books" is held now: \S/),
  });
});

describe('who is told', () => {
  test('is who wants that event', () => {
    const told = new Told({ name: 'a', on: ['held'] }, { name: 'b', on: ['unread', 'held'] });
    expect(told.pass({ unread: ['books'] })).toEqual(['unread books started']);
    expect(told.pass({ held: ['books'] })).toEqual(['unread books ended', 'held books started', 'held books started']);
  });

  test('somebody new is told what stands, and the end goes to those who know the start', () => {
    const told = new Told();
    told.pass({ held: ['books'] });
    const late: Listener = { name: 'late', on: noticeEvents };
    const state = tell(told.state, known(told.nowMs, { held: ['books'] }), [everybody, late]);
    expect(state.outbox.slice(1).map(({ channel }) => channel)).toEqual(['late']);
    const over = tell(state, known(told.nowMs, { accepted: ['books'] }), [late]);
    expect(over.outbox.map(({ channel, notice }) => [channel, notice.state])).toEqual([
      ['late', 'started'],
      ['late', 'ended'],
    ]);
  });
});

describe('channels of one host', () => {
  const place = 'slack hooks.example';
  const channel = (id: string, name = place): Required<Listener> => ({ id, name, place, on: noticeEvents });
  const [ops, finance] = [channel('ops'), channel('finance', 'slack hooks.example (2)')];
  const held = (state: TellingState, ...listeners: Listener[]): TellingState =>
    tell(state, known(startMs, { held: ['books'] }), listeners);
  const news = (state: TellingState): string[] => state.outbox.map(({ channel: id }) => id);

  test('are told apart wherever they stand: what waits for one goes to it and to no other', () => {
    const first = held(newTelling(address, startMs), ops, finance);
    const waits = delivered(first, nextLetter(first, ops.id) as Letter);
    expect(news(held(waits, { ...finance, name: place }))).toEqual([finance.id]);
  });

  test('know each of them whether it was told', () => {
    const first = held(newTelling(address, startMs), finance);
    const told = delivered(first, nextLetter(first, finance.id) as Letter);
    expect(news(held(told, ops, finance))).toEqual([ops.id]);
  });

  test('are one channel where one went and one came: its secret was renewed', () => {
    const first = held(newTelling(address, startMs), ops, finance);
    const waits = delivered(first, nextLetter(first, ops.id) as Letter);
    const renewed = channel('renewed');
    expect(news(held(waits, ops, renewed))).toEqual([renewed.id]);
    expect(news(held(waits, renewed, finance))).toEqual([finance.id]);
    // Which of two is which, nobody knows: both are new.
    expect(news(held(waits, renewed, channel('other')))).toEqual([renewed.id, 'other']);
  });

  test('are known again from the record of an older version, by what people saw of them', () => {
    const older = ({ name, on }: Listener): Listener => ({ name, on });
    const first = held(newTelling(address, startMs), older(ops), older(finance));
    const { channels: _, ...kept } = failed(
      delivered(first, nextLetter(first, ops.name) as Letter),
      first.outbox[1] as Letter,
      {
        error: '500',
        nowMs: startMs,
        random: () => 0.5,
      },
    );
    const now = held(kept, ops, finance);
    expect(news(now)).toEqual([finance.id]);
    expect(now.failing).toMatchObject([{ channel: finance.id, error: '500' }]);
    expect(now.matters[0]?.told).toEqual([ops.id, finance.id]);
  });

  test('one that left before it was told, and comes back, is told then', () => {
    const first = held(newTelling(address, startMs), ops, finance);
    const without = held(first, ops);
    expect(news(without)).toEqual([ops.id]);
    expect(news(held(without, ops, finance))).toEqual([ops.id, finance.id]);
    const knew = held(delivered(first, first.outbox[1] as Letter), ops);
    expect(news(held(knew, ops, finance))).toEqual([ops.id]);
  });
});

describe('what cannot be delivered', () => {
  const failure = { error: '500', random: () => 0.999 };

  test('is tried again after longer and longer, and after a day still', () => {
    const told = new Told();
    told.pass({ held: ['books'] });
    const pauses: number[] = [];
    for (let nowMs = told.nowMs; nowMs < told.nowMs + 24 * hourMs;) {
      const letter = nextLetter(told.state, everybody.name) as Letter;
      told.state = failed(told.state, letter, { ...failure, nowMs });
      const { dueMs } = nextLetter(told.state, everybody.name) as Letter;
      pauses.push(dueMs - nowMs);
      nowMs = dueMs;
    }
    expect(pauses.slice(0, 3).map((ms) => Math.round(ms / 1000))).toEqual([10, 20, 40]);
    expect(Math.max(...pauses)).toBeLessThanOrEqual(15 * 60_000);
    expect(pauses.length).toBeGreaterThan(90);
    expect(told.state).toMatchObject({ failures: pauses.length, dropped: 0, failing: [{ error: '500' }] });
  });

  test('waits as long as the receiver asks, for an hour at most', () => {
    const told = new Told();
    told.pass({ held: ['books'] });
    const letter = nextLetter(told.state, everybody.name) as Letter;
    const dueAfter = (retryAfterMs: number): number =>
      (nextLetter(failed(told.state, letter, { ...failure, nowMs: 0, retryAfterMs }), everybody.name) as Letter).dueMs;
    expect(dueAfter(30 * 60_000)).toBe(30 * 60_000);
    expect(dueAfter(30 * hourMs)).toBe(hourMs);
  });

  test('is given up after a week, and counted', () => {
    const told = new Told();
    told.pass({ held: ['books'] });
    told.pass({ accepted: ['books'] }, 7 * 24 * hourMs);
    expect(told.state).toMatchObject({ dropped: 0, outbox: [{}, {}] });
    told.pass({ accepted: ['books'] });
    expect(told.state).toMatchObject({ dropped: 1, outbox: [{ notice: { state: 'ended' } }] });
  });

  test('is told anew after a week where it is wrong still, also where only the clock jumped', () => {
    const told = new Told();
    told.pass({ held: ['books'] });
    expect(told.pass({ held: ['books'] }, 8 * 24 * hourMs)).toEqual(['held books started']);
    expect(told.state).toMatchObject({ dropped: 1, outbox: [{ tries: 0, writtenMs: told.nowMs }] });
    expect(told.pass({ held: ['books'] })).toEqual([]);
    expect(told.pass({ accepted: ['books'] })).toEqual(['held books ended']);
  });

  test('is a hundred notices for each channel at most: the oldest go', () => {
    const told = new Told();
    for (let pass = 0; pass < 60; pass++) {
      told.pass({ unread: ['books'] });
      told.pass({ accepted: ['books'] });
    }
    expect(told.state.outbox).toHaveLength(100);
    expect(told.state.outbox[0]?.id).toBe(21);
    expect(told.state.dropped).toBe(20);
  });

  test('goes without a word where its channel left the config', () => {
    const told = new Told();
    told.pass({ held: ['books'] });
    expect(tell(told.state, known(told.nowMs, { held: ['books'] }), [])).toMatchObject({ outbox: [], dropped: 0 });
  });
});

test('a clock that is set back makes no notice late, and tells nothing again', () => {
  const told = new Told();
  told.pass({ outcome: 'unreachable' });
  told.nowMs -= 30 * 24 * hourMs;
  expect(told.pass({ outcome: 'unreachable' }, 0)).toEqual([]);
  expect(told.pass({ outcome: 'unreachable' }, hourMs)).toEqual(['unreachable started']);
});

test('a clock that is set back makes nothing stale that was served, and tells it when its time has come', () => {
  const told = new Told();
  told.pass({ servedAgoMs: 0 }, 100 * hourMs);
  const back = { outcome: 'blocked', servedAgoMs: -60_000 } as const;
  expect(told.pass(back, -120_000)).toEqual([]);
  const ahead = { outcome: 'blocked', servedAgoMs: -1000 * hourMs } as const;
  expect(told.pass(ahead, 47 * hourMs)).toEqual([]);
  expect(told.pass(ahead, hourMs)).toEqual(['stale started']);
});

test('the next look is when a failure has lasted for an hour, or twice the schedule is over', () => {
  const told = new Told();
  told.pass({ outcome: 'unreachable', servedAgoMs: hourMs });
  expect(nextLookMs(told.state, known(told.nowMs, { servedAgoMs: hourMs }))).toBe(told.nowMs + hourMs);
  told.pass({ servedAgoMs: hourMs });
  expect(nextLookMs(told.state, known(told.nowMs, { servedAgoMs: hourMs }))).toBe(told.nowMs + 47 * hourMs);
});

describe('in any history of passes, restarts and deliveries', () => {
  const sources = fc.subarray(['a', 'b', 'c']);
  const outcomes: readonly PassReport['outcome'][] = [
    'acknowledged',
    'unchanged',
    'refused',
    'unreachable',
    'unknown',
    'blocked',
  ];
  const step = fc.record({
    afterMs: fc.constantFrom(0, 60_000, hourMs, 4 * hourMs, -hourMs),
    held: sources,
    unread: sources,
    outcome: fc.constantFrom(...outcomes),
    servedAgoMs: fc.constantFrom(0, hourMs, 60 * hourMs),
    arrives: fc.boolean(),
    dies: fc.boolean(),
  });
  const listeners: readonly Listener[] = [everybody, { name: 'b', on: ['held', 'refused', 'unreachable'] }];

  test('starts and ends take turns for each thing and each channel, in order, and nothing is told twice or lost', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let state = newTelling(address, startMs);
        let nowMs = startMs;
        const told = new Map<string, string[]>();
        for (const { afterMs, held, unread, outcome, servedAgoMs, arrives, dies } of steps) {
          nowMs += afterMs;
          const readable = held.filter((name) => !unread.includes(name));
          const next = tell(state, known(nowMs, { held: readable, unread, outcome, servedAgoMs }), listeners);
          // A process that dies before this is written finds the same again; one that dies after it, the notices.
          if (dies) state = tell(state, known(nowMs, { held: readable, unread, outcome, servedAgoMs }), listeners);
          else state = next;
          expect(state).toEqual(next);
          state = JSON.parse(JSON.stringify(state)) as TellingState;
          if (arrives) state = deliverAll(state, told);
          else for (const { name } of listeners) state = failNext(state, name, nowMs);
        }
        state = deliverAll(state, told);
        for (const [, states] of told) {
          expect(states).toEqual(states.map((_, index) => (index % 2 === 0 ? 'started' : 'ended')));
        }
        const standing = state.matters.flatMap(({ event, source, told: names }) =>
          names.map((name) => `${name} ${event} ${source}`),
        );
        const open = [...told].filter(([, states]) => states.at(-1) === 'started').map(([key]) => key);
        expect(open.toSorted()).toEqual(standing.toSorted());
      }),
    );
  });

  function deliverAll(state: TellingState, told: Map<string, string[]>): TellingState {
    let left = state;
    for (const { name } of listeners) {
      for (let letter = nextLetter(left, name); letter !== undefined; letter = nextLetter(left, name)) {
        const key = `${name} ${letter.notice.event} ${letter.notice.source}`;
        told.set(key, [...(told.get(key) ?? []), letter.notice.state]);
        left = delivered(left, letter);
      }
    }
    return left;
  }

  function failNext(state: TellingState, name: string, nowMs: number): TellingState {
    const letter = nextLetter(state, name);
    return letter === undefined ? state : failed(state, letter, { error: '500', nowMs, random: () => 0.5 });
  }
});
