/** The rules of a request's modality. */
import type { AudioInput, ImageInput, VideoInput } from '../../contract/routing-inputs.ts';
import { audioRules } from './audio-rules.ts';
import { imageRules } from './image-rules.ts';
import type { RoutingRequest } from './request.ts';
import type { Rules } from './rules.ts';
import { videoRules } from './video-rules.ts';

export function rulesFor({ modality, input }: Pick<RoutingRequest, 'modality' | 'input'>): Rules {
  // The casts are safe: the input is that of the modality, and the capability filter drops models of other modalities.
  if (modality === 'video') return videoRules(input as VideoInput) as Rules;
  if (modality === 'image') return imageRules(input as ImageInput) as Rules;
  return audioRules(input as AudioInput) as Rules;
}
