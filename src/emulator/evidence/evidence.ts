/**
 * How sure each operation is, point by point. The points are never summed up: a path can be documented while its effect is a
 * guess. `docs/SERVICE.md` has the same knowledge as prose.
 */
import type { OperationName } from '../routing/operations.ts';

export const marks = {
  documented: "the service's guide or its interface description says so",
  typed: 'the official client has it in its types',
  observed: 'somebody saw it at the live service and published it',
  verified: "the official client behaved so against this project's tests",
  guessed: 'nothing is known; the emulator does what its users most likely expect',
} as const;
export type Mark = keyof typeof marks;

export const points = {
  path: 'method and path',
  request: 'fields and limits of the request',
  answer: 'shape of the answer',
  effect: 'what it changes, and when',
  refusal: 'statuses and bodies of refusals',
} as const;
export type Point = keyof typeof points;

export interface Evidence {
  readonly method: string;
  readonly path: string;
  readonly points: Readonly<Record<Point, readonly Mark[]>>;
  /** What had to be guessed. */
  readonly guesses: readonly string[];
  /** What `--strict` changes. */
  readonly strict: readonly string[];
}

type Known = Omit<Evidence, 'method' | 'path'>;

const typedAndVerified = ['documented', 'typed', 'verified'] as const;

const asked = {
  path: typedAndVerified,
  request: ['documented', 'typed'],
  answer: typedAndVerified,
} as const;

const ceilingManner =
  'ceilings are whole credits from 1 for each output; otherwise any number above 0 for all outputs, and null clears one';
const idManner = 'a router is found by its id alone; otherwise by its slug too';

function generation(request: readonly Mark[], strict: readonly string[]): Known {
  return {
    points: {
      ...asked,
      path: ['documented', 'typed', 'observed', 'verified'],
      request,
      answer: ['documented', 'typed', 'observed'],
      effect: ['documented', 'observed', 'guessed'],
      refusal: ['documented', 'observed'],
    },
    guesses: [
      'what each filter checks in detail',
      'expected seconds, quality and strengths of the models',
      'reading the prompt by its words',
      'ties go to the cheaper model, then to the first of the catalog',
    ],
    strict: [
      ...strict,
      'a ceiling is compared with the cost of each output; otherwise with that of all together',
      'the only model left for a cost target is logged as a single candidate; otherwise as the lowest cost',
    ],
  };
}

/** Of the routing operations, whose methods and paths are those of `operations`. */
export const routingEvidence: Readonly<Record<OperationName, Known>> = {
  createRouter: {
    points: { ...asked, effect: ['documented', 'observed'], refusal: ['documented', 'guessed'] },
    guesses: ['a slug in use is 409, and the client is told not to repeat', 'the stored form of default settings'],
    strict: [
      'without a name the slug is the name; otherwise a name is required',
      'a description of null is refused; otherwise it is none',
      ceilingManner,
    ],
  },
  listRouters: {
    points: { ...asked, effect: ['documented'], refusal: ['guessed'] },
    guesses: ['newest first', 'a bad limit or cursor is 400'],
    strict: [],
  },
  retrieveRouter: {
    points: { ...asked, effect: ['documented'], refusal: ['documented', 'guessed'] },
    guesses: ['the body of the 404'],
    strict: [idManner],
  },
  updateRouter: {
    points: { ...asked, effect: ['documented'], refusal: ['guessed'] },
    guesses: ['a part of the model list may be left out', 'equal settings make no version in the strict manner'],
    strict: [
      'a version is made when settings change; otherwise by every update that names a field',
      ceilingManner,
      idManner,
    ],
  },
  deleteRouter: {
    points: { ...asked, effect: ['documented', 'guessed'], refusal: ['documented', 'guessed'] },
    guesses: ['its slug is free again', 'its tasks stay'],
    strict: [idManner],
  },
  listRequests: {
    points: { ...asked, effect: ['documented', 'guessed'], refusal: ['guessed'] },
    guesses: ['newest first', 'dry runs of the interface are not recorded', 'ten thousand records are kept'],
    strict: [idManner],
  },
  generateVideo: generation(
    ['documented', 'typed', 'observed'],
    ['a duration is in whole seconds; otherwise fractions are taken', 'a task takes as long as its model'],
  ),
  generateImage: generation(
    ['documented', 'typed'],
    [
      'resolution is 1k, 2k or 4k; otherwise 480p, 720p and 1080p are taken too and mean nothing',
      'duration is refused; otherwise it means nothing',
    ],
  ),
  generateAudio: generation(
    ['documented', 'typed'],
    [
      'type is required; otherwise speech, or sound where duration, loop or referenceAudios is given',
      'aspectRatio, resolution and the duration of speech are refused; otherwise they mean nothing',
    ],
  ),
  retrieveTask: {
    points: { ...asked, effect: ['documented', 'observed', 'guessed'], refusal: ['documented'] },
    guesses: ['a task is pending for a tenth of its time', 'a cancelled task is 404'],
    strict: ['a task takes as long as its model; otherwise five seconds'],
  },
  deleteTask: {
    points: { ...asked, effect: ['documented', 'guessed'], refusal: ['documented'] },
    guesses: ['a task that did not run yet costs nothing'],
    strict: [],
  },
  retrieveOrganization: {
    points: { ...asked, answer: ['documented', 'typed', 'observed'], effect: ['documented'], refusal: ['guessed'] },
    guesses: ['which models belong to which column of the table of tiers'],
    strict: [],
  },
  queryUsage: {
    points: { ...asked, effect: ['documented'], refusal: ['guessed'] },
    guesses: ['a span that is too long is 400'],
    strict: [],
  },
  createUpload: {
    points: { ...asked, effect: typedAndVerified, refusal: ['documented', 'guessed'] },
    guesses: ['the place to post to is at the same address', 'what is posted is not read'],
    strict: [],
  },
};

/** Operations that are not of model routing's REST interface. */
export const otherEvidence: Readonly<Record<string, Evidence>> = {
  pushDrivers: {
    method: 'POST',
    path: '/api/extDrivers/update',
    points: {
      path: ['documented'],
      request: ['documented', 'guessed'],
      answer: ['documented'],
      effect: ['documented', 'guessed'],
      refusal: ['guessed'],
    },
    guesses: [
      'a time is in seconds, and a month is one in UTC',
      'a value may have a minus and a decimal point',
      'the later request is the most recent update; within one request the latest time',
      'a refused request changes nothing',
      'a bearer token, where one is required',
    ],
    strict: [],
  },
  agentTools: {
    method: 'POST',
    path: '/mcp',
    points: {
      path: ['documented'],
      request: ['guessed'],
      answer: ['guessed'],
      effect: ['documented', 'observed', 'guessed'],
      refusal: ['verified', 'guessed'],
    },
    guesses: ['arguments and results of the tools', 'how long tokens live'],
    strict: ['settings are as strict as in the REST interface'],
  },
};

/** What `--strict` changes for every operation of model routing. */
export const strictEverywhere = [
  'a bearer token is required; any will do where none was set',
  'the header X-Runway-Version is required',
] as const;
