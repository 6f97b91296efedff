/** The catalog as `list_models` shows it. */
import type { Model } from '../routing/catalog.ts';

const isUsableAt = {
  '/v1/generate/video': ({ modality }) => modality === 'video',
  '/v1/generate/image': ({ modality }) => modality === 'image',
  '/v1/generate/audio': ({ modality }) => modality === 'audio',
  '/v1/text_to_video': (model) => model.modality === 'video' && model.modes.text !== undefined,
  '/v1/image_to_video': (model) =>
    model.modality === 'video' && (model.modes.frames ?? model.modes.image) !== undefined,
  '/v1/video_to_video': (model) => model.modality === 'video' && model.modes.video !== undefined,
  '/v1/text_to_image': ({ modality }) => modality === 'image',
  '/v1/text_to_speech': (model) => model.modality === 'audio' && model.speech !== undefined,
  '/v1/sound_effect': (model) => model.modality === 'audio' && model.audio !== undefined,
} satisfies Readonly<Record<string, (model: Model) => boolean>>;

export type Endpoint = keyof typeof isUsableAt;

/** The routing endpoints, and those of the live service whose models the emulator knows. */
export const endpoints = Object.keys(isUsableAt) as Endpoint[];

export function modelsAt(endpoint: Endpoint, models: readonly Model[]): Model[] {
  return models.filter(isUsableAt[endpoint]);
}

/** Fields that the emulator guesses for its ranking. The live service does not show them. */
const guesses = new Set(['quality', 'strengths', 'expectedSeconds', 'concurrencyGroup']);

export function viewModel({ id, provider, modality, price, ...rest }: Model): object {
  const inputConstraints = Object.fromEntries(Object.entries(rest).filter(([name]) => !guesses.has(name)));
  return { id, provider, modality, inputConstraints, price };
}
