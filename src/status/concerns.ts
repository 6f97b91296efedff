/** What an operator has to know first: whether the service holds what the sources have, and if not, why. */
import { type StatusReport, isPushOpen, whatTakesUp } from '../app/ask/status-report.ts';
import { isSource } from '../core/telling/words.ts';
import type { Tone } from '../pages/markup.ts';

export interface Concern {
  readonly tone: Tone;
  readonly text: string;
  /** What to do about it. */
  readonly hint?: string | undefined;
  /** A page that says more. */
  readonly href?: string | undefined;
}

/** The gravest first; one that says that all is well where there is nothing else. */
export function concernsOf(report: StatusReport): readonly Concern[] {
  const found = [
    ...ofLoop(report),
    ...ofAgents(report),
    ...ofPass(report),
    ...ofPush(report),
    ...ofHeld(report),
    ...ofSources(report),
    ...ofConfig(report),
  ];
  if (found.length > 0) return found;
  if (report.unpushedSince !== undefined) {
    return [{ tone: 'busy', text: 'data that was accepted is not pushed yet', hint: report.nextPushWhy }];
  }
  return [{ tone: 'good', text: 'all is well: the service holds what the sources have' }];
}

function ofAgents({ shared }: StatusReport): Concern[] {
  if (shared === undefined) return [];
  const strange = shared.agents.filter(
    ({ leads, isThis, isStrange, broken }) => isStrange && (!leads || (broken !== undefined && !isThis)),
  );
  return [
    ...(shared.leader === null ? [{ tone: 'bad', text: 'no agent leads: nothing is pushed' } as const] : []),
    ...strange.map(({ host, pid, text }): Concern => ({
      tone: 'busy',
      text: `the agent on ${host}, pid ${pid}, ${text}`,
    })),
  ];
}

function ofLoop({ stalledSince, agent }: StatusReport): Concern[] {
  if (stalledSince === undefined) return [];
  const text = `the loop of the agent was to move by ${stalledSince} and has not: nothing is read or pushed`;
  return [{ tone: 'bad', text, hint: `end it (kill -KILL ${agent?.pid}) and start it anew: nothing is lost` }];
}

function ofPass({ lastPass }: StatusReport): Concern[] {
  if (lastPass === undefined) return [{ tone: 'idle', text: 'no pass has ended yet: the first one is at work' }];
  if (lastPass.outcome !== 'broken') return [];
  return [{ tone: 'bad', text: `the last pass broke: ${lastPass.reason}`, hint: lastPass.hint }];
}

function ofPush(report: StatusReport): Concern[] {
  const { lastPush, blocked, rolledBackTo, held } = report;
  const concerns: Concern[] = [];
  if (rolledBackTo !== undefined) {
    concerns.push({
      tone: 'busy',
      text: `rolled back to push ${rolledBackTo}: nothing else is pushed`,
      hint: blocked?.hint,
      href: `/push?id=${rolledBackTo}`,
    });
  } else if (blocked !== undefined) {
    const waits = held.find(({ reason }) => reason === blocked.reason);
    const href = waits === undefined ? undefined : heldHref(waits.source);
    const hint = whatTakesUp(report, waits?.digest) ?? blocked.hint;
    concerns.push({ tone: 'bad', text: `nothing is pushed: ${blocked.reason}`, hint, href });
  }
  if (lastPush !== undefined && isPushOpen(report)) {
    const { id, outcome, detail, endedAt } = lastPush;
    const came = `was ${outcome}${detail === undefined ? '' : `: ${detail}`}`;
    const text = `push ${id} ${endedAt === undefined ? 'has no answer yet' : came}`;
    concerns.push({ tone: outcome === 'unknown' ? 'busy' : 'bad', text, href: `/push?id=${id}` });
  }
  return concerns;
}

function ofHeld({ held, blocked }: StatusReport): Concern[] {
  // A first push that waits is said by what blocks it.
  const others = held.filter(({ source, reason }) => isSource(source) || reason !== blocked?.reason);
  return others.map(({ source, reason }) => ({
    tone: 'bad',
    text: isSource(source) ? `the source ${source} is held: ${reason}` : reason,
    href: heldHref(source),
  }));
}

function heldHref(source: string): string {
  return `/held?source=${encodeURIComponent(source)}`;
}

function ofSources({ sources }: StatusReport): Concern[] {
  return sources.flatMap(({ name, state, reason, hint, carried }) => {
    const href = `/source?name=${encodeURIComponent(name)}`;
    const concerns: Concern[] = [];
    if (state === 'unread') {
      concerns.push({
        tone: 'bad',
        text: `the source ${name} could not be read: ${reason}; its accepted data stays`,
        hint,
        href,
      });
    }
    if (carried.length > 0) {
      const parts = carried.length === 1 ? 'a part is' : `${carried.length} parts are`;
      concerns.push({ tone: 'busy', text: `the source ${name}: ${parts} gone, and the data is carried`, href });
    }
    return concerns;
  });
}

function ofConfig({ configDiffers, agent }: StatusReport): Concern[] {
  if (!configDiffers) return [];
  const hint = agent?.pid === undefined ? undefined : `kill -HUP ${agent.pid} loads it`;
  return [{ tone: 'busy', text: 'the config file is not what the agent has loaded', hint }];
}
