/** The words of a notice: what is wrong and what to do, or why it is over. */
import { visible } from '../text.ts';
import { type Known, servedOr } from './matters.ts';
import type { Notice } from './notice.ts';
import type { Matter, Subject } from './record.ts';

type Words = Pick<Notice, 'text' | 'hint' | 'digest'>;

const textMax = 2000;
const digestShown = 12;

/** A notice that something is wrong. */
export function startOf(matter: Matter, known: Known, watchedMs: number): Notice {
  return noticeOf(matter, 'started', known, startWords(matter, known, watchedMs));
}

/** A notice that it is over. */
export function endOf(subject: Subject, known: Known): Notice {
  return noticeOf(subject, 'ended', known, { text: endText(subject, known) });
}

/** What `check --notify` sends. */
export function testNotice({ at, host, address }: Pick<Notice, 'at' | 'host' | 'address'>): Notice {
  const text = 'this is a test: "driver-sync check --notify" sent it, and nothing is wrong';
  return { event: 'test', state: 'started', text, at, host, address };
}

function noticeOf(
  { event, source, machine }: Subject,
  state: Notice['state'],
  { nowMs, host, address }: Known,
  { text, hint, digest }: Words,
): Notice {
  return {
    event,
    state,
    ...(source === undefined ? {} : { source }),
    ...(machine === undefined ? {} : { machine }),
    text: shown(text),
    ...(hint === undefined ? {} : { hint: shown(hint) }),
    ...(digest === undefined ? {} : { digest }),
    at: new Date(nowMs).toISOString(),
    host,
    address,
  };
}

/** Texts from data forge no line of a message, and flood none. */
function shown(text: string): string {
  const line = visible(text);
  // Half a character is no JSON that every receiver takes, and what one refuses would be tried again for a week.
  return line.length > textMax ? `${line.slice(0, textMax).replace(/[\ud800-\udbff]$/, '')}…` : line;
}

function startWords({ event, source = '', machine, sinceMs }: Matter, known: Known, watchedMs: number): Words {
  const { report } = known;
  const { outcome, reason = outcome, hint } = report;
  switch (event) {
    case 'held':
      return heldWords(source, known);
    case 'unread': {
      const read = report.sources.find(({ name }) => name === source);
      const text = `${nameOf(source)} is not read: ${read?.reason ?? 'it cannot be read'}`;
      const stays = (read?.points ?? 0) > 0 ? '; its accepted data stays in every snapshot' : '';
      return { text: text + stays, hint: read?.hint ?? 'see "driver-sync status"' };
    }
    case 'refused':
      return {
        text: `the service refused the push: ${reason}`,
        hint: hint ?? 'correct what it names; "driver-sync sync" tries again, and so does the next schedule',
      };
    case 'unreachable':
      return {
        text: `no push has reached the service since ${moment(sinceMs)}: ${reason}`,
        hint: hint ?? 'pushes are tried again by themselves: look at the service and at the network to it',
      };
    case 'stale': {
      const fromMs = servedOr(known, watchedMs);
      const never = known.servedMs === undefined;
      const text = never
        ? `nothing was acknowledged yet, and twice the schedule is over since ${moment(fromMs)}`
        : `nothing was acknowledged since ${moment(fromMs)}, which is twice the schedule`;
      const isFailing = outcome !== 'acknowledged' && outcome !== 'unchanged';
      return {
        text: isFailing ? `${text}; the last pass ended ${outcome}: ${reason}` : text,
        hint: hint ?? 'see "driver-sync status"',
      };
    }
    case 'broken':
      return {
        text: `a pass broke, and nothing is read or pushed until one ends: ${known.broken?.reason}`,
        hint: known.broken?.hint ?? 'a daemon tries again each minute; see "driver-sync status"',
      };
    case 'differs': {
      const { text } = known.others?.differing.find((one) => one.machine === machine) ?? { text: 'differs' };
      return {
        text: `the agent on ${machine} does not see what the one that leads sees: it ${text}`,
        hint: 'look at that machine before it takes over: is a mount missing, an older copy there, or another config?',
      };
    }
  }
}

function heldWords(source: string, { held }: Known): Words {
  const candidate = held.find((one) => one.source === source);
  if (candidate === undefined) return { text: `${nameOf(source)} is held` };
  const { digest, reason, hint = 'see "driver-sync plan"', approvable } = candidate;
  const command = `driver-sync approve ${digest.slice(0, digestShown)}`;
  return {
    // What is held of a first push says so itself.
    text: isSource(source) ? `${nameOf(source)} is held: ${reason}` : reason,
    hint: approvable ? `${hint}; approve it with: ${command}` : hint,
    digest,
  };
}

function endText({ event, source = '', machine = '' }: Subject, { report, others }: Known): string {
  const { outcome, push } = report;
  const acknowledged = `push ${push?.id} was acknowledged`;
  switch (event) {
    case 'held':
    case 'unread': {
      const { state, reason = '' } = report.sources.find(({ name }) => name === source) ?? {};
      const what = event === 'held' ? 'is not held any more' : 'is read again';
      if (!isSource(source)) return `${nameOf(source)} ${what}`;
      if (state === undefined) return `${nameOf(source)} is not in the config any more`;
      // It may have left the config, and need not have been read.
      if (event === 'unread' && state === 'held') return `${nameOf(source)} is held now: ${reason}`;
      if (event === 'unread') return `${nameOf(source)} is read again`;
      return `${nameOf(source)} ${what}: ${heldEnds[state]}`;
    }
    case 'refused':
      return outcome === 'acknowledged'
        ? `the service takes pushes again: ${acknowledged}`
        : 'the push that the service refused is not needed any more';
    case 'unreachable':
      if (outcome === 'refused') return 'the service is reached again, and refused the push';
      return outcome === 'acknowledged'
        ? `the service is reached again: ${acknowledged}`
        : 'the push that did not reach the service is not needed any more';
    case 'stale':
      return outcome === 'acknowledged'
        ? `the service is up to date again: ${acknowledged}`
        : 'the service is up to date again';
    case 'broken':
      return outcome === 'acknowledged' ? `passes end again: ${acknowledged}` : 'passes end again';
    case 'differs':
      return others?.machines.includes(machine) === true
        ? `the agent on ${machine} sees what the one that leads sees`
        : `no agent runs on ${machine} any more`;
  }
}

const heldEnds = {
  accepted: 'its read was accepted',
  unchanged: 'its data is as it was accepted',
  unread: 'it cannot be read now, and its accepted data stays',
  held: 'another read of it is',
} as const;

/** What waits for a first push is recorded under a name in brackets, which no source has. */
export function isSource(name: string): boolean {
  return !name.startsWith('(');
}

function nameOf(source: string): string {
  return isSource(source) ? `source "${source}"` : `the ${source.slice(1, -1)}`;
}

/** `2026-03-15 02:15 UTC` */
function moment(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
