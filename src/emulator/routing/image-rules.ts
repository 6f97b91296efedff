/** Whether an image model can serve a request, and the estimated cost. */
import { imageResolutions } from '../../contract/routing-inputs.ts';
import type { ImageAspectRatio, ImageInput, ImageResolution } from '../../contract/routing-inputs.ts';
import type { ImageModel } from './model.ts';
import { allows, roundCredits } from './rules.ts';
import type { Rules } from './rules.ts';

const defaultAspectRatio = '1:1';

export function imageRules(input: ImageInput): Rules<ImageModel> {
  const references = input.referenceImages?.length ?? 0;
  const outputs = input.outputCount ?? 1;

  const tierOf = ({ sizes }: ImageModel): ImageResolution =>
    // Without a resolution in the request it is the smallest one.
    input.resolution ?? imageResolutions.find((tier) => sizes[tier] !== undefined) ?? '1k';
  const aspectRatioOf = (model: ImageModel): ImageAspectRatio => {
    if (input.aspectRatio !== undefined) return input.aspectRatio;
    const sizes = model.sizes[tierOf(model)] ?? {};
    return sizes[defaultAspectRatio] === undefined
      ? ((Object.keys(sizes) as ImageAspectRatio[])[0] ?? defaultAspectRatio)
      : defaultAspectRatio;
  };

  return {
    lackOf: ({ references: { min, max } }) => {
      if (references === 0) return min > 0 ? 'an image without references' : undefined;
      return max === 0 ? 'reference images' : undefined;
    },

    limitOf: (model) => {
      const { resolution, aspectRatio } = input;
      if (resolution !== undefined && model.sizes[resolution] === undefined) return `resolution ${resolution}`;
      if (aspectRatio !== undefined && model.sizes[tierOf(model)]?.[aspectRatio] === undefined)
        return `aspectRatio ${aspectRatio}`;
      if (references > model.references.max || references < model.references.min)
        return `${references} referenceImages`;
      if (!allows(model.outputCounts, outputs)) return `outputCount ${outputs}`;
      return input.seed !== undefined && !model.features.includes('seed') ? 'seed' : undefined;
    },

    needsPrompt: () => true,

    estimate: (model) => {
      const { perImage, perReference } = model.price;
      const times = perReference?.each === 'image' ? outputs : 1;
      return roundCredits((perImage[tierOf(model)] ?? 0) * outputs + (perReference?.credits ?? 0) * references * times);
    },

    resolve: (model) => {
      const resolution = tierOf(model);
      const aspectRatio = aspectRatioOf(model);
      return { aspectRatio, ratio: model.sizes[resolution]?.[aspectRatio] ?? '', resolution };
    },
  };
}
