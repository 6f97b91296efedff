/** Whether a video model can serve a request, and the estimated cost. */
import { videoResolutions } from '../../contract/routing-inputs.ts';
import type { VideoInput, VideoResolution } from '../../contract/routing-inputs.ts';
import type { VideoMode, VideoModel } from './model.ts';
import { allows, nearestTo, roundCredits } from './rules.ts';
import type { Rules } from './rules.ts';

const defaultSeconds = 5;
const defaultAspectRatio = '16:9';

/** Resolutions for a request without one: the first that the model has. */
const preferredTiers = ['720p', ...videoResolutions] as const;

export function videoRules(input: VideoInput): Rules<VideoModel> {
  const images = input.referenceImages ?? [];
  const videos = input.referenceVideos ?? [];
  const audios = input.referenceAudio ?? [];
  const hasSource = videos.some(({ role }) => role === 'source');
  const { offered, from } = madeFrom(hasSource, images);
  const hasMedia = images.length + videos.length + audios.length > 0;

  // The mode exists: `lackOf` runs first and drops models without it.
  const modeOf = offered as (model: VideoModel) => VideoMode;
  const tierOf = (model: VideoModel): VideoResolution => {
    if (input.resolution !== undefined) return input.resolution;
    for (const tier of preferredTiers) if (isTierOf(model, modeOf(model), tier)) return tier;
    return preferredTiers[0];
  };
  const secondsOf = (model: VideoModel): number => input.duration ?? nearestTo(modeOf(model).durations, defaultSeconds);

  return {
    lackOf: (model) => {
      if (offered(model) === undefined) return from;
      if (input.audio === true && model.sound === 'none') return 'sound';
      if (input.audio === false && model.sound === 'always') return 'silent video';
      return input.keyframes?.length && modeOf(model).keyframes === undefined ? 'keyframes' : undefined;
    },

    limitOf: (model) => {
      const mode = modeOf(model);
      const { duration, resolution } = input;
      if (duration !== undefined && !allows(mode.durations, duration)) return `duration ${duration}`;
      if (resolution !== undefined && !isTierOf(model, mode, resolution)) return `resolution ${resolution}`;
      if (input.aspectRatio !== undefined && ratioOf(model, mode, { tier: tierOf(model), ...input }) === undefined)
        return `aspectRatio ${input.aspectRatio}`;
      const beyond = hasMedia ? mediaLimitOf(input, mode) : undefined;
      if (beyond !== undefined) return beyond;
      if (input.seed !== undefined && !model.features.includes('seed')) return 'seed';
      return input.negativePrompt && !model.features.includes('negativePrompt') ? 'negativePrompt' : undefined;
    },

    needsPrompt: (model) => modeOf(model).promptOptional !== true,

    estimate: (model) => {
      const { price } = model;
      const tier = tierOf(model);
      const seconds = secondsOf(model);
      const silent = input.audio === false ? price.perSecondSilent : undefined;
      const perSecond = silent ?? (hasSource ? price.perSecondFromVideo : undefined) ?? price.perSecond;
      let credits = (perSecond[tier] ?? 0) * seconds;
      if (videos.length > 0) credits += (price.perSecondOfInput?.[tier] ?? 0) * seconds * videos.length;
      if (images.length > 0) credits += (price.perImage ?? 0) * images.length;
      if (audios.length > 0) credits += (price.perAudio ?? 0) * audios.length;
      return Math.max(roundCredits(credits), price.min ?? 0);
    },

    resolve: (model) => {
      const mode = modeOf(model);
      const tier = tierOf(model);
      const { aspectRatio } = input;
      const ratio = ratioOf(model, mode, { tier, aspectRatio: aspectRatio ?? defaultAspectRatio });
      return { duration: secondsOf(model), ratio: ratio ?? firstRatioOf(model, mode, tier), resolution: tier };
    },
  };
}

/** Checks the number of references of each kind and the roles of images. Keyframes go with a source video. */
function mediaLimitOf(input: VideoInput, mode: VideoMode): string | undefined {
  const {
    referenceImages: images = [],
    referenceVideos: videos = [],
    referenceAudio: audios = [],
    keyframes = [],
  } = input;
  if (images.length > (mode.images?.max ?? 0)) return `${images.length} referenceImages`;
  const roles = [...new Set(images.map(({ role }) => role))];
  if (roles.length > 0 && !mode.images?.roles.some((set) => roles.every((role) => set.includes(role))))
    return `referenceImages as ${roles.join(' and ')}`;
  if (mode.images?.lastNeedsFirst && roles.includes('last') && !roles.includes('first'))
    return 'a last frame without a first one';
  if (videos.length > (mode.videos ?? 0)) return `${videos.length} referenceVideos`;
  if (audios.length > (mode.audios ?? 0)) return `${audios.length} referenceAudio`;
  return keyframes.length > (mode.keyframes ?? 0) ? `${keyframes.length} keyframes` : undefined;
}

interface MadeFrom {
  /** The model's mode for the request, if it has one. */
  readonly offered: (model: VideoModel) => VideoMode | undefined;
  readonly from: string;
}

function madeFrom(hasSource: boolean, images: NonNullable<VideoInput['referenceImages']>): MadeFrom {
  if (hasSource) return { offered: ({ modes }) => modes.video, from: 'a source video' };
  if (images.some(({ role }) => role !== 'reference'))
    return { offered: ({ modes }) => modes.frames ?? modes.image, from: 'a first or last frame' };
  if (images.length > 0) return { offered: ({ modes }) => modes.image, from: 'reference images' };
  return { offered: ({ modes }) => modes.text, from: 'video without an image' };
}

function isTierOf(model: VideoModel, mode: VideoMode, tier: VideoResolution): boolean {
  return model.sizes[tier] !== undefined && (mode.resolutions?.includes(tier) ?? true);
}

type AspectRatio = NonNullable<VideoInput['aspectRatio']>;

interface Shape {
  readonly tier: VideoResolution;
  readonly aspectRatio?: AspectRatio | undefined;
}

/** The size in pixels; undefined if the model does not make this shape. */
function ratioOf(model: VideoModel, mode: VideoMode, { tier, aspectRatio }: Shape): string | undefined {
  if (aspectRatio === undefined || mode.aspectRatios === 'ofImage') return undefined;
  return (mode.aspectRatios?.includes(aspectRatio) ?? true) ? model.sizes[tier]?.[aspectRatio] : undefined;
}

function firstRatioOf(model: VideoModel, mode: VideoMode, tier: VideoResolution): string {
  const sizes = model.sizes[tier] ?? {};
  // The image is not looked at, so its shape stands for the usual one.
  const [first] = mode.aspectRatios === 'ofImage' ? [defaultAspectRatio] : (mode.aspectRatios ?? []);
  return (first === undefined ? undefined : sizes[first as AspectRatio]) ?? Object.values(sizes)[0] ?? '';
}
