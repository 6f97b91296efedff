/** The fields of the form that creates and edits a router: from the form, to settings and from a router. */
import { modalities, optimizationTargets } from '../../contract/routing-settings.ts';
import type { Modality, OptimizationTarget, RouterSettings, SettingsPatch } from '../../contract/routing-settings.ts';
import type { Model } from '../routing/catalog.ts';
import { isEligible, listOf } from './model-list.ts';
import type { ModelList } from './model-list.ts';
import { slugOf } from './slug.ts';

export const switchLabels = {
  includesNew: 'Include newly released models',
  fallsBack: 'Fall back when a model is at capacity',
} as const;

/** The fields as text. */
export interface RouterFields {
  /** The version that the form shows; empty for a new router. */
  readonly version: string;
  readonly name: string;
  readonly slug: string;
  readonly optimizeFor: OptimizationTarget;
  readonly includesNew: boolean;
  readonly fallsBack: boolean;
  readonly ceilings: Readonly<Record<Modality, string>>;
  /** Models that the picker shows, and those that are checked. */
  readonly shown: readonly string[];
  readonly checked: ReadonlySet<string>;
}

export function readFields(form: URLSearchParams): RouterFields {
  const text = (name: string): string => form.get(name)?.trim() ?? '';
  const optimizeFor = optimizationTargets.find((target) => target === text('optimizeFor')) ?? 'cost';
  const name = form.get('name') ?? '';
  return {
    version: text('version'),
    name,
    slug: text('slug') || slugOf(name),
    optimizeFor,
    includesNew: form.has('includesNew'),
    fallsBack: form.has('fallsBack'),
    ceilings: { video: text('ceiling-video'), image: text('ceiling-image'), audio: text('ceiling-audio') },
    shown: text('shown').split(' ').filter(Boolean),
    checked: new Set(form.getAll('model')),
  };
}

/** The name in the fields. If it is as it was shown, the previous name is kept with its blanks and line ends. */
export function nameIn({ name }: RouterFields, previous?: string): string {
  // Browsers remove line ends from a field of one line.
  return name === previous?.replaceAll(/[\r\n]/g, '') ? previous : name.trim();
}

/** What is wrong with a field, at its path in the body of a request. */
export interface Issue {
  readonly path: readonly string[];
  readonly message: string;
}

/** What ceilings have to be: any number of credits, or whole ones as the live service has it. */
export type CeilingUnit = 'any' | 'whole';

export interface CeilingRules {
  readonly unit: CeilingUnit;
  /** Ceilings that are set and cannot be cleared: the live service shows no way to do it. */
  readonly kept: readonly Modality[];
}

const ceilingRules: Readonly<Record<CeilingUnit, string>> = {
  any: 'must be a number of credits above 0, such as 12.5, or empty',
  whole: 'must be a whole number of credits from 1, or empty',
};
const keptRule = 'must be a whole number of credits from 1: it can be changed and not cleared';

export interface Known {
  /** Ids of the models of the catalog. */
  readonly models: readonly string[];
  /** The list of the router before. */
  readonly previous: ModelList;
  readonly ceilings: CeilingRules;
}

/** The settings in the fields, or what is wrong with them. */
export function settingsOf(
  fields: RouterFields,
  { models, previous, ceilings: { unit, kept } }: Known,
): SettingsPatch | Issue[] {
  const issues: Issue[] = [];
  const ceilings: Partial<Record<Modality, number | null>> = {};
  for (const modality of modalities) {
    const text = fields.ceilings[modality];
    // The form of JSON numbers, in which a ceiling from the API is shown.
    const ceiling = /^(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : 0;
    const isKept = kept.includes(modality);
    const isWrong = !(ceiling > 0 && ceiling < Infinity) || (unit === 'whole' && !Number.isInteger(ceiling));
    if (isWrong && (text !== '' || isKept))
      issues.push({
        path: ['settings', 'maxCreditsPerGeneration', modality],
        message: isKept ? keptRule : ceilingRules[unit],
      });
    ceilings[modality] = text === '' ? null : ceiling;
  }
  if (issues.length > 0) return issues;
  return {
    optimizeFor: fields.optimizeFor,
    models: listOf(fields, models, previous),
    maxCreditsPerGeneration: ceilings,
    fallback: { onCapacity: fields.fallsBack },
  };
}

/** The differences between the router as it is now and the fields, for somebody who did not see the change. */
export function differencesOf(fields: RouterFields, now: RouterFields): string[] {
  const onOff = (isOn: boolean): string => (isOn ? 'on' : 'off');
  const eligible = ({ shown, checked }: RouterFields): string => shown.filter((id) => checked.has(id)).join(' ');
  const pairs: (readonly [label: string, own: string, now: string])[] = [
    ['Name', nameIn(fields, now.name), now.name],
    ['Optimize for', fields.optimizeFor, now.optimizeFor],
    [switchLabels.includesNew, onOff(fields.includesNew), onOff(now.includesNew)],
    [switchLabels.fallsBack, onOff(fields.fallsBack), onOff(now.fallsBack)],
    ...modalities.map(
      (modality) =>
        [
          `${nameOfModality(modality)} ceiling`,
          fields.ceilings[modality] || 'none',
          now.ceilings[modality] || 'none',
        ] as const,
    ),
  ];
  const differing = pairs
    .filter(([, own, other]) => own !== other)
    .map(([label, , other]) => `${label} is now ${other}`);
  const models = eligible(fields) === eligible(now) ? [] : [`Models: now ${now.checked.size} are eligible`];
  return [...differing, ...models];
}

export function nameOfModality(modality: Modality): string {
  return modality.charAt(0).toUpperCase() + modality.slice(1);
}

/** Fields for a router, or for a new one. */
export function fieldsOf(
  router: {
    readonly name: string;
    readonly slug: string;
    readonly version?: number;
    readonly settings: RouterSettings;
  },
  models: readonly Model[],
): RouterFields {
  const { optimizeFor, models: list, maxCreditsPerGeneration: ceilings, fallback } = router.settings;
  const shown = models.map(({ id }) => id);
  return {
    version: String(router.version ?? ''),
    name: router.name,
    slug: router.slug,
    optimizeFor,
    includesNew: list.mode === 'allow_new_except',
    fallsBack: fallback?.onCapacity ?? false,
    ceilings: {
      video: String(ceilings?.video ?? ''),
      image: String(ceilings?.image ?? ''),
      audio: String(ceilings?.audio ?? ''),
    },
    shown,
    checked: new Set(shown.filter((id) => isEligible(list, id))),
  };
}
