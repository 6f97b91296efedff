/** The fields of the playground, and the request that they make. */
import { modalities, optimizationTargets } from '../../contract/routing-settings.ts';
import type { Modality, RouterSettings } from '../../contract/routing-settings.ts';
import { invalidAt } from '../routing/refusal.ts';
import type { Router, Routers } from '../routing/routers.ts';
import { visibleOf } from '../../pages/markup.ts';
import { parseJson } from './form-body.ts';
import type { Field } from './problems.ts';

/** The fields that a modality has for itself, with their labels. In the form their names begin with the modality. */
export const ownFields = {
  video: {
    duration: 'Duration',
    aspectRatio: 'Aspect ratio',
    resolution: 'Resolution',
    audio: 'Sound',
    imageUri: 'First image',
  },
  image: { outputCount: 'Outputs', aspectRatio: 'Aspect ratio', resolution: 'Resolution', imageUri: 'Reference image' },
  audio: { type: 'Type', duration: 'Duration' },
} as const satisfies Readonly<Record<Modality, Readonly<Record<string, string>>>>;

/** The fields as text. Empty ones are not sent. */
export interface PlaygroundFields {
  readonly router: string;
  readonly modality: Modality;
  readonly prompt: string;
  /** By the names of the form, such as `video-duration`, of all modalities: none is lost while another one is looked at. */
  readonly own: Readonly<Record<string, string>>;
  /** A JSON object whose keys are added to the input. */
  readonly more: string;
  /** What the router is compared with: `for:quality`, `router:slug`, or nothing. */
  readonly against: string;
}

export function readFields(form: URLSearchParams): PlaygroundFields {
  const text = (name: string): string => form.get(name)?.trim() ?? '';
  const names = modalities.flatMap((modality) => Object.keys(ownFields[modality]).map((name) => `${modality}-${name}`));
  return {
    router: text('router'),
    modality: modalities.find((modality) => modality === text('modality')) ?? 'image',
    // Browsers send a line end as two characters.
    prompt: text('prompt').replaceAll('\r\n', '\n'),
    own: Object.fromEntries(names.map((name) => [name, text(name)])),
    more: text('more'),
    against: text('against'),
  };
}

/** The body of the request, without `dryRun`. @throws Refusal 400 where `more` is no JSON object. */
export function bodyOf(fields: PlaygroundFields): { readonly configId: string; readonly input: object } {
  const { router, modality, prompt } = fields;
  const given = (name: string): string => fields.own[`${modality}-${name}`] ?? '';
  const image = modality === 'video' ? { uri: given('imageUri'), role: 'first' } : { uri: given('imageUri') };
  const input = {
    ...(prompt !== '' && { promptText: prompt }),
    ...textsOf({ aspectRatio: given('aspectRatio'), resolution: given('resolution'), type: given('type') }),
    ...(given('duration') !== '' && { duration: numberOf(given('duration')) }),
    ...(given('outputCount') !== '' && { outputCount: numberOf(given('outputCount')) }),
    ...(given('audio') !== '' && { audio: given('audio') === 'on' }),
    ...(given('imageUri') !== '' && { referenceImages: [image] }),
    ...moreOf(fields),
  };
  return { configId: router, input };
}

function textsOf(texts: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}

/** Text that is not a number stays as it is, and the schema refuses it. */
function numberOf(text: string): number | string {
  return /^\d{1,9}(?:\.\d{1,9})?$/.test(text) ? Number(text) : text;
}

function moreOf({ more }: PlaygroundFields): object {
  if (more === '') return {};
  const value = parseJson(more, 'more');
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw invalidAt(['more'], 'must be an object, such as {"seed": 7}');
}

/** The field for a path of the body. */
export function fieldFor(path: string, { modality }: PlaygroundFields): Field | undefined {
  if (path === 'configId') return { id: 'router', label: 'Router' };
  if (path === 'more') return { id: 'more', label: 'More input' };
  const [, key = ''] = /^input\.(\w+)/.exec(path) ?? [];
  if (key === 'promptText') return { id: 'prompt', label: 'Prompt' };
  const name = key === 'referenceImages' ? 'imageUri' : key;
  const label = (ownFields[modality] as Readonly<Record<string, string>>)[name];
  return label === undefined ? undefined : { id: `${modality}-${name}`, label };
}

/** What a request is tried with: a router as it is, or with another target. */
export interface Contender {
  readonly name: string;
  readonly settings: RouterSettings;
}

export function contenderOf(router: Router): Contender {
  return { name: visibleOf(router.name, router.slug), settings: router.settings };
}

/** Undefined where nothing is compared, or a router that is gone. */
export function rivalOf({ against }: PlaygroundFields, router: Router, routers: Routers): Contender | undefined {
  const [kind, value = ''] = against.split(':');
  if (kind === 'router') {
    const other = routers.bySlug(value);
    return other === undefined ? undefined : contenderOf(other);
  }
  const optimizeFor = optimizationTargets.find((target) => target === value);
  if (optimizeFor === undefined) return undefined;
  const { name, settings } = contenderOf(router);
  return { name: `${name}, for ${optimizeFor}`, settings: { ...settings, optimizeFor } };
}
