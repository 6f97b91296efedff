/** What campaigns play, and what they have to reach. */
import path from 'node:path';
import { eventKinds } from '../../src/simulate/history/events.ts';
import {
  answered,
  datedExports,
  firstToApprove,
  lagging,
  lenient,
  movingDrivers,
  oneSource,
  shapedConfig,
  twoSources,
} from '../simulate/planted/configs.ts';

export const sampleFile = path.join(import.meta.dirname, '../../config/driver-sync.yaml');

const { sales } = twoSources.sources;

/** Between them these configs may reach all. */
export const campaignConfigs: readonly (readonly [name: string, config: object | 'sample'])[] = [
  ['the sample', 'sample'],
  ['two sources', twoSources],
  ['rows that nobody can read', lenient],
  ['drivers that move', movingDrivers],
  ['bookings that add up', shapedConfig],
  ['one source that may turn empty', { ...oneSource, sources: { sales: { ...sales, mayBeEmpty: true } } }],
  ['a first push to approve, and closed months', firstToApprove],
  ['dated exports and a rolling one', datedExports],
  ['a database that says when it was changed, and a workbook', answered],
  ['a database that lags', { ...lagging, guard: { maxDeletes: '60%' } }],
];

/** What is never reached shows nothing. */
export const requiredMarks = [
  ...eventKinds.map((kind) => `event ${kind}`),
  ...['0', '3', '4', '5', '75'].map((exit) => `exit ${exit}`),
  ...['acknowledged', 'unchanged', 'refused', 'unreachable', 'unknown', 'blocked'].map(
    (outcome) => `outcome ${outcome}`,
  ),
  ...['acknowledged', 'refused', 'unreachable', 'unknown'].map((outcome) => `push ${outcome}`),
  ...['accepted', 'unchanged', 'held', 'unread'].map((state) => `source ${state}`),
  ...['factor', 'new-scale', 'new-sign', 'moved', 'exchanged', 'copied', 'zeros', 'fewer-readings', 'closed'].map(
    (kind) => `finding ${kind}`,
  ),
  ...[
    'turned empty',
    'starts empty',
    'too many drivers',
    'too many points',
    'too many in a day',
    'too many in a month',
    'readings missing',
    'more rejects',
    'oldest months',
    'month between',
    'begins within',
    'counted twice',
    'left the config',
    'empty snapshot',
    'belongs to another',
    'moved to a held one',
    'moved to an unread one',
    'months in a held one',
    'months in an unread one',
  ].map((reason) => `hold: ${reason}`),
  ...[
    'too many rejects',
    'line end',
    'half way',
    'unreachable',
    'gone',
    'no header',
    'no column',
    'no column to unpivot',
    'too long',
    'cut workbook',
  ].map((reason) => `unread: ${reason}`),
  ...['same, by proof', 'changed, by proof', 'changed, by evidence', 'grown, by proof', 'grown, by evidence'].map(
    (look) => `file ${look}`,
  ),
  ...['torn, by proof', 'torn, by evidence', 'changed above, unseen'].map((look) => `file ${look}`),
  ...['rolled back', 'first push waits', 'new buffer waits', 'first push to approve'].map(
    (reason) => `blocked: ${reason}`,
  ),
  'next push: a source that the last push went without can be read again',
  'next push: pushOnChange',
  'next push: an earlier push may still land; a different snapshot waits for it',
  'next push: new data or a new token after a refusal',
  'next push: none',
  'next push: the last push did not arrive and is tried again',
  'next push: the same bytes once more, since an earlier push may have landed after them',
  'next push: the schedule',
];
