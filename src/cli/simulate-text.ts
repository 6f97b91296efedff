/** What `simulate` found, for people who look after numbers: what could happen, which rule stops it, and what their settings let through. */
import type { UnseenHold } from '../simulate/losses/unseen.ts';
import type { ShownWarning } from './simulate-losses.ts';
import { count, shellWord } from '../core/text.ts';

export interface Broken {
  readonly seed: number;
  readonly promise: string;
  readonly story: readonly string[];
  /** Where the story lies. */
  readonly file?: string;
  /** Why it lies nowhere. */
  readonly unkept?: string;
}

export interface Simulated {
  readonly seed: number;
  readonly histories: number;
  readonly steps: number;
  readonly digest: string;
  readonly marks: Readonly<Record<string, number>>;
  readonly warnings: readonly ShownWarning[];
  readonly unseen?: UnseenHold | undefined;
  readonly violation?: Broken;
}

type Marks = Simulated['marks'];

/** What happens in histories, by the marks of their events. */
const happenings: readonly (readonly [says: string, kinds: readonly string[]])[] = [
  [
    'an export ended half way, was cut, lacked a month or many rows, began within a month or turned empty',
    ['half', 'cut', 'gap', 'thin', 'window', 'empty', 'blank'],
  ],
  ['something more was booked in a month', ['booking']],
  ['a file grew, also while its last line was being written', ['append', 'torn', 'rewritten']],
  ['a file vanished, or its place could not be reached', ['vanish', 'away']],
  ['a read failed, hung, or found a file that was being written', ['readFails', 'readHangs', 'readChanges']],
  ['a whole export slipped: a thousandfold, another sign, another month', ['slip']],
  ['cells or headers could not be read', ['badCells', 'header']],
  ['an older state came back, or a file lay there twice', ['older', 'copy']],
  ['months or names really left an export', ['goneItem', 'rolling']],
  [
    'the service did not answer, answered late, refused or failed',
    ['unanswered', 'late', 'dropped', 'unreachable', 'busy', 'refused', 'error'],
  ],
  ['the agent was killed or restarted', ['killWrite', 'killStep', 'restart', 'second']],
  [
    'a disk was full, or what the agent keeps was lost or damaged',
    ['fullDisk', 'loseBuffer', 'damageBuffer', 'damageSnapshot'],
  ],
  ['the clock was set', ['clockForth', 'clockBack', 'clockStep']],
  [
    'somebody approved, forgot, rolled back or changed the config',
    ['approve', 'forget', 'rollback', 'reload', 'settings', 'pass'],
  ],
];

/** What the agent does about it, by the marks of its holds and outcomes. */
const stops: readonly (readonly [says: string, marks: readonly string[]])[] = [
  ['an export without rows was held, and its numbers stayed', ['hold: turned empty', 'hold: starts empty']],
  [
    'a read that would delete too much was held',
    ['hold: too many drivers', 'hold: too many points', 'hold: too many in a day', 'hold: too many in a month'],
  ],
  [
    'a read that drops the oldest or the newest months, or one between others, was held',
    ['hold: oldest months', 'hold: newest months', 'hold: month between'],
  ],
  ['a read that begins within a month that had been whole was held', ['hold: begins within']],
  ['a read with more rows that nobody can read was held', ['hold: more rejects']],
  ['rows that may count twice, or are missing, were held', ['hold: counted twice', 'hold: readings missing']],
  ['an answer that went back in time was held', ['hold: went back']],
  ['a source that left the config kept its numbers', ['hold: left the config']],
  ['a number that two sources have stayed with the one that had it', ['hold: belongs to another']],
  [
    'numbers that slipped were held',
    ['factor', 'moved', 'exchanged', 'copied', 'zeros', 'fewer-readings'].map((kind) => `finding ${kind}`),
  ],
  ['a change in a closed month was held', ['finding closed']],
  ['a file that may be half a file was not taken', ['unread: line end']],
  ['a file with too many rows that nobody can read was not taken', ['unread: too many rejects']],
  ['a source that could not be read kept its numbers', ['source unread']],
  ['an empty snapshot was not sent', ['hold: empty snapshot', 'blocked: empty']],
  ['nothing was pushed until every source was there', ['blocked: first push waits', 'blocked: new buffer waits']],
  ['the first push waited for approval', ['blocked: first push to approve']],
  ['nothing was pushed after a rollback', ['blocked: rolled back']],
];

export function showSimulated(result: Simulated, { hasMarks }: { readonly hasMarks: boolean }): string[] {
  const { seed, histories, steps, digest, marks, warnings, violation, unseen } = result;
  return [
    `${histories} ${histories === 1 ? 'history' : 'histories'} of this config from seed ${seed}: ${count(steps, 'step')}, digest ${digest.slice(0, 16)}`,
    ...listed(
      'What happened to your numbers, and how often:',
      counted(
        happenings.map(([says, kinds]) => [says, kinds.map((kind) => `event ${kind}`)] as const),
        marks,
      ),
    ),
    ...listed('What stopped it, in so many passes:', counted(stops, marks)),
    '',
    ...(violation === undefined
      ? ['No promise was broken: no number went or changed but as your settings say, and the newest data arrived.']
      : showBroken(violation)),
    ...listed('What your settings let through:', showWarnings(warnings)),
    ...(unseen === undefined ? [] : ['', ...showUnseen(unseen)]),
    ...(hasMarks
      ? listed(
          'Marks:',
          Object.entries(marks).map(([mark, times]) => `${padded(times)}  ${mark}`),
        )
      : []),
  ];
}

function listed(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines.map((line) => `  ${line}`)];
}

function padded(times: number): string {
  return String(times).padStart(9);
}

function counted(sentences: readonly (readonly [says: string, marks: readonly string[]])[], marks: Marks): string[] {
  return sentences.flatMap(([says, names]) => {
    const times = names.reduce((sum, name) => sum + (marks[name] ?? 0), 0);
    return times === 0 ? [] : [`${padded(times)}  ${says}`];
  });
}

/** What is said of many sources with the same words is said once. */
function showWarnings(warnings: readonly ShownWarning[]): string[] {
  const alike = Map.groupBy(warnings, ({ path, message, loss }) => (loss === undefined ? message : path));
  return [...alike.values()].flatMap(([first, ...more]) => {
    if (first === undefined) return [];
    const path = more.length === 0 ? first.path : `${first.path} and ${more.length} more like it`;
    return showWarning({ ...first, path });
  });
}

function showWarning({ path, message, loss }: ShownWarning): string[] {
  if (loss === undefined) return [`${path}: ${message}`];
  const { seed, story, stoppedBy, instead, file, unkept } = loss;
  return [
    `${path}: ${message}; it happens in seed ${seed}:`,
    ...story.map((line) => `  ${line}`),
    ...(stoppedBy === undefined ? [] : [`  with the usual setting it is stopped: ${stoppedBy}`]),
    ...(instead === undefined ? [] : [`  with the usual setting ${instead}`]),
    ...(file === undefined ? [] : [`  driver-sync simulate --story ${shellWord(file)} plays it again`]),
    ...(unkept === undefined ? [] : [`  its story could not be kept: ${unkept}`]),
  ];
}

function showUnseen({ source, reason, heldAfterMs, days, pushes }: UnseenHold): string[] {
  const beside = pushes === 1 ? 'one push was acknowledged' : `${pushes} pushes were acknowledged`;
  const when = heldAfterMs === 0 ? 'as soon as it was exported' : `${spell(heldAfterMs)} after its export`;
  return [
    `How long a hold lasts unseen: "${source}" was held ${when} (${reason}).`,
    `After ${days} days it was held still, and ${beside} without its news. It ends when the export is mended, or somebody approves.`,
  ];
}

function spell(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return `${Math.max(1, Math.round(ms / 1000))} s`;
  return minutes < 180 ? `${minutes} min` : `${Math.round(minutes / 60)} h`;
}

function showBroken({ seed, promise, story, file, unkept }: Broken): string[] {
  return [
    `Seed ${seed} breaks a promise: ${promise}`,
    ...story.map((line) => `  ${line}`),
    ...(file === undefined
      ? [
          `this is a bug of driver-sync: please report it with what is printed here and the config (its story could not be kept: ${unkept})`,
          `driver-sync simulate --seed ${seed} --histories 1 plays it again`,
        ]
      : [
          `this is a bug of driver-sync: please report it with ${file}`,
          `driver-sync simulate --story ${shellWord(file)} plays it again`,
        ]),
  ];
}
