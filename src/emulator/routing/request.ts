/** What is to be routed, and what became of the models that were not eligible. */
import type { FilterName } from '../../contract/routing-answers.ts';
import type { AudioInput, ImageInput, VideoInput } from '../../contract/routing-inputs.ts';
import type { Modality, RouterSettings } from '../../contract/routing-settings.ts';
import type { Model } from './model.ts';

/** The input of routing. `settings` are the router's at this moment, `configId` is its slug. */
export interface RoutingRequest {
  readonly modality: Modality;
  /** The input of that modality, as its schema returns it. */
  readonly input: VideoInput | ImageInput | AudioInput;
  readonly settings: RouterSettings;
  readonly configId: string;
  /** Whether a ceiling is for all outputs together or for each of them. */
  readonly ceilingPer: 'generation' | 'output';
  /** The outcome of ranking by cost where one model is left. */
  readonly costOutcomeOfOne: 'cost' | 'single_candidate';
}

/** A model that a filter dropped, and why, such as "duration 30". */
export interface Dropped {
  readonly model: Model;
  readonly filter: FilterName;
  readonly because: string;
}

/** How many outputs share what is compared with the ceiling. */
export function outputsUnderCeiling({ ceilingPer, input }: RoutingRequest): number {
  return ceilingPer === 'output' && 'outputCount' in input ? (input.outputCount ?? 1) : 1;
}
