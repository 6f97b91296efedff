/**
 * Proposes a config for files that nobody has described: `init --from`. Pure: samples of files in, the text of a config out. A proposal
 * may guess, and says what it guessed from; nothing that is pushed is ever read by a guess.
 *
 *   samples -> layout.ts     encoding.ts, header.ts, aligned.ts: what stands where in a file
 *           -> shapes.ts     files of one shape are one source
 *           -> draft.ts      profile.ts (numbers.ts, times.ts): what each column holds; wide.ts, when.ts and roles.ts: which says when, which
 *                            how much; codes.ts, signs.ts: which stands for a name, which is a minus;
 *                            overlaps.ts: which files show again what others have; entry.ts: the entries of `drivers`
 *           -> lines.ts      the YAML, with the evidence beside each guess
 */
import { type Draft, type NoDraft, draftOf } from './draft.ts';
import { type Sample, layoutOf } from './layout.ts';
import { type Line, plain, writeLines } from './lines.ts';
import { shapesOf } from './shapes.ts';

export interface Proposal {
  /** The config; `undefined` where nothing could be proposed for any file. */
  readonly text: string | undefined;
  readonly sources: readonly Pick<Draft, 'name' | 'undecided'>[];
  /** What no source was proposed for, and why. */
  readonly without: readonly NoDraft[];
}

/** @param neighbours the names in the folder of a file, as the config names them */
export function propose(samples: readonly Sample[], neighbours: (file: string) => readonly string[]): Proposal {
  const shapes = shapesOf(samples.map(layoutOf), neighbours);
  const drafts = shapes.map((shape) => ({ shape, draft: draftOf(shape) }));
  const made = drafts.flatMap(({ draft }) => ('lines' in draft ? [draft] : []));
  const without = drafts.flatMap(({ shape, draft }) =>
    'why' in draft ? [{ name: shape.files.join(', '), why: draft.why }] : [],
  );
  const text = made.length === 0 ? undefined : writeLines(linesOf(made), heading);
  return { text, sources: made.map(({ name, undecided }) => ({ name, undecided })), without };
}

const heading = [
  'Proposed by `driver-sync init --from`. Each guess has its evidence beside it: read them, and correct what is wrong.',
  '`driver-sync check` shows what these sources give; docs/CONFIG.md explains every key.',
];

function linesOf(drafts: readonly Draft[]): readonly Line[] {
  const sources = drafts.map(({ name, lines, undecided }) => ({
    key: name,
    value: { block: lines },
    above: undecided.map((text) => (text.startsWith('undecided') ? text : `look at this: ${text}`)),
  }));
  return [
    {
      key: 'destination',
      value: plain('emulator'),
      beside: 'the stand-in for the service, so that sync and run work at once',
      above: [
        'timezone: Europe/Berlin # decides which month a moment belongs to, and the hours of the schedule; default UTC',
        'schedule: "15 2 * * *" # when `run` pushes; this is the default',
      ],
    },
    {
      key: 'sources',
      value: { block: sources },
      above: [
        'destination: # a real service, later',
        '  url: https://drivers.example.com',
        '  token: ${DRIVERS_TOKEN}',
      ],
    },
  ];
}
