/** What to ask for less of where every model is above the ceiling. Named is only what would cost less than the request. */
import { imageResolutions, videoResolutions } from '../../contract/routing-inputs.ts';
import type { Model, Values } from './model.ts';
import type { RoutingRequest } from './request.ts';
import { rulesFor } from './rules-for.ts';

type Input = RoutingRequest['input'];

/** @param models those that are above it. @returns undefined where nothing helps but a higher ceiling */
export function lessOf(request: RoutingRequest, models: readonly Model[]): string | undefined {
  const { estimate } = rulesFor(request);
  const isCheaper = (changes: Partial<Input>): boolean => {
    const rules = rulesFor({ modality: request.modality, input: { ...request.input, ...changes } as Input });
    return models.some((model) => rules.limitOf(model) === undefined && rules.estimate(model) < estimate(model));
  };
  return waysOf(request, models).find(([, changes]) => changes.some(isCheaper))?.[0];
}

type Way = readonly [remedy: string, changes: readonly Partial<Input>[]];

/** Each with the smaller requests that it may mean. The first that helps is told. */
function waysOf({ modality, input, ceilingPer }: RoutingRequest, models: readonly Model[]): readonly Way[] {
  const resolution = 'resolution' in input ? input.resolution : undefined;
  if (modality === 'image') {
    const outputs = ceilingPer === 'generation' && 'outputCount' in input ? (input.outputCount ?? 1) : 1;
    const fewer = Array.from({ length: outputs - 1 }, (_, index) => ({ outputCount: index + 1 }));
    return [
      ['ask for fewer outputs', fewer],
      ['ask for a lower resolution', lower(imageResolutions, resolution)],
    ];
  }
  const durations = [...new Set(models.flatMap(shortestOf))].map((duration) => ({ duration }));
  if (modality === 'video') {
    return [
      ['shorten the request', durations],
      ['ask for a lower resolution', lower(videoResolutions, resolution ?? '720p')],
    ];
  }
  // The text says how long speech takes.
  const lengths = [...new Set(models.map(({ promptCharacters }) => promptCharacters.min ?? 1))];
  const texts = lengths.map((length) => ({ promptText: (input.promptText ?? '').slice(0, length) }));
  return [['shorten the request', [...durations, ...texts]]];
}

/** None where an image's resolution is not named: it is then the smallest that the model has. */
function lower<Tier extends string>(tiers: readonly Tier[], present: string | undefined) {
  const at = tiers.findIndex((tier) => tier === present);
  return tiers.slice(0, Math.max(0, at)).map((resolution) => ({ resolution }));
}

/** The shortest durations that a request can name, which are two seconds of video and half a second of sound. */
function shortestOf(model: Model): number[] {
  if (model.modality === 'image') return [];
  if (model.modality === 'audio') return model.audio?.durations ? leastOf(model.audio.durations, 0.5) : [];
  return Object.values(model.modes).flatMap((mode) => (mode === undefined ? [] : leastOf(mode.durations, 2)));
}

function leastOf(values: Values, least: number): number[] {
  if (!Array.isArray(values)) return values.max < least ? [] : [Math.max(values.min, least)];
  const named = values.filter((value) => value >= least);
  return named.length === 0 ? [] : [Math.min(...named)];
}
