/** A routed request and what its task cost, as one row of texts. */
import type { Row } from '../../core/model.ts';
import type { RoutedRequest, Router, TaskEnd } from './api.ts';

export const columns = [
  'router',
  'routerId',
  'modality',
  'model',
  'provider',
  'createdAt',
  'status',
  'outcome',
  'credits',
  'estimatedCredits',
  'generations',
  'taskId',
  'requestId',
  'reasonCode',
] as const;

/** What each column holds, for the reference in docs. */
export const columnsText = [
  '`router` (its slug), `routerId`',
  '`modality`: video, image or audio, `unknown` where neither the model nor those it was picked from tell',
  '`model`, `provider`: empty where the request was refused',
  '`createdAt`: an instant of ISO 8601',
  '`status`: `routed`, or why not',
  '`outcome`: the status of its task, `GONE` where that was deleted or cancelled, empty where there was none',
  '`credits`: what was charged in the end, 0 where all of it was given back; empty until the task has ended and where there was none; for a task that is gone, the estimate that was charged at its start, since its cost can no longer be read',
  '`estimatedCredits`',
  '`generations`: 1 where there was a task, else empty',
  '`taskId`, `requestId`, `reasonCode`',
].join('; ');

/** The task of a request: `gone`, or `undefined` where it never had one. */
export type Outcome = TaskEnd | 'gone' | undefined;

export function rowOf(
  { slug, id }: Router,
  request: RoutedRequest,
  outcome: Outcome,
  modalities: Readonly<Record<string, string>>,
): Row {
  const { model, provider, createdAt, status, estimatedCredits, taskId, requestId, reasonCode } = request;
  const isGone = outcome === 'gone';
  return [
    slug,
    id,
    modalityOf(request, modalities),
    model ?? '',
    provider ?? '',
    createdAt,
    status,
    isGone ? 'GONE' : (outcome?.status ?? ''),
    (isGone ? estimatedCredits : outcome?.credits) ?? '',
    estimatedCredits ?? '',
    outcome === undefined ? '' : '1',
    taskId ?? '',
    requestId ?? '',
    reasonCode ?? '',
  ];
}

/** Known models by modality, which the log does not name. */
const knownModels = {
  video:
    'gen4.5 gen4_turbo aleph2 act_two veo3.1 veo3.1_fast gemini_omni_flash gemini_omni_flash_1.1 seedance2 ' +
    'seedance2_fast seedance2_mini seedance2_5 hailuo3 h3_max wan3 wan3_prime grok_imagine_1_5 happyhorse_1_0',
  image:
    'gen4_image gen4_image_turbo gemini_2.5_flash gemini_image3_pro gemini_image3.1_flash gpt_image_2 ' +
    'gpt_image_2_5_flare gpt_image_2_5_sunburst seedream5_pro seedream5_lite grok_imagine_image_2 muse_image',
  audio: 'eleven_v3 eleven_multilingual_v2 seed_audio eleven_text_to_sound_v2',
};

const modalityByModel = new Map(
  Object.entries(knownModels).flatMap(([modality, ids]) => ids.split(' ').map((id) => [id, modality] as const)),
);

/**
 * By the model, else by any model that it was chosen from: from the filter `capability` on, the pipeline lists only models of
 * the request's own modality.
 */
function modalityOf({ model, pipeline }: RoutedRequest, modalities: Readonly<Record<string, string>>): string {
  const from = pipeline.findIndex(({ filter }) => filter === 'capability');
  const peers = from < 0 ? [] : pipeline.slice(from).flatMap(({ models }) => models ?? []);
  for (const id of [model ?? '', ...peers]) {
    const known = Object.hasOwn(modalities, id) ? modalities[id] : modalityByModel.get(id);
    if (known !== undefined) return known;
  }
  return 'unknown';
}
