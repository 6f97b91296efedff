/** The shape of the catalog's data about a model. */
import { z } from 'zod';
import {
  imageAspectRatios,
  imageResolutions,
  videoAspectRatios,
  videoResolutions,
} from '../../contract/routing-inputs.ts';
import { traits } from './prompt-words.ts';

/** Of a duration in seconds, up to an hour, or of a number of outputs. */
const amount = z.number().positive().max(3_600);

/** Allowed numbers: a list of them, or all from `min` to `max`. */
const valuesSchema = z.union([
  z.array(amount).min(1),
  z.strictObject({ min: amount, max: amount }).refine(({ min, max }) => min <= max, 'min must not be above max'),
]);
export type Values = z.infer<typeof valuesSchema>;

/** 0 to 10: an ordering, not a measurement. */
const score = z.number().min(0).max(10);
/** Beyond this a price times seconds, images and sounds would lose digits. */
const credits = z.number().nonnegative().max(1e12);
const count = z.int().positive();
const pixels = z.string().regex(/^\d{1,5}:\d{1,5}$/, 'must be <width>:<height> in pixels');

/**
 * Gives an object all its keys in one order, also those that were left out; it stays equal and gives the same JSON. V8 reads
 * objects of one shape faster: a decision over a thousand models takes up to a quarter less time.
 */
function alike<Shape extends z.ZodRawShape>(shape: Shape) {
  const keys = Object.keys(shape);
  return z.strictObject(shape).transform((value) => {
    const given: Readonly<Record<string, unknown>> = value;
    return Object.fromEntries(keys.map((key) => [key, given[key]])) as typeof value;
  });
}

const commonShape = {
  id: z.string().regex(/^[\w.-]{1,100}$/, 'must be 1 to 100 of letters, digits, "_", "." and "-"'),
  provider: z.string().min(1).max(100),
  /** Length of the prompt in UTF-16 code units. Without `max` only the limit of the request holds. */
  promptCharacters: alike({ min: count.optional(), max: count.optional() })
    .refine(({ min = 0, max = Infinity }) => min <= max, 'min must not be above max')
    .default({}),
  /** General quality of its output. */
  quality: score,
  /** Strength by trait of the prompt. A trait that is not named counts as `quality` minus 3. */
  strengths: z.partialRecord(z.enum(traits), score).default({}),
  /** Seconds from start to output of a usual request. Latency is ranked by it. */
  expectedSeconds: z.number().positive().max(1e9),
  /** The column of the tier's limits. */
  concurrencyGroup: z.enum(['video', 'image', 'audio', 'characters', 'upscale']),
};

const videoTier = z.enum(videoResolutions);

/** A mode by what the video is made from. */
const videoModeSchema = alike({
  /** In seconds. */
  durations: valuesSchema,
  /** `ofImage`: the one of the image, so that a request cannot name one. Default: all of `sizes`. */
  aspectRatios: z.union([z.array(z.enum(videoAspectRatios)).min(1), z.literal('ofImage')]).optional(),
  resolutions: z.array(videoTier).min(1).optional(),
  /** Lists of roles that may be combined: all roles of a request must be in one list. Default: no roles. */
  images: z
    .strictObject({
      max: count,
      roles: z.array(z.array(z.enum(['first', 'last', 'reference'])).min(1)).min(1),
      /** Default: the last frame may be the only one. */
      lastNeedsFirst: z.literal(true).optional(),
    })
    .optional(),
  /** Number of videos, with the source. Default: 0. */
  videos: count.optional(),
  /** Number of reference sounds. Default: 0. */
  audios: count.optional(),
  keyframes: count.optional(),
  promptOptional: z.literal(true).optional(),
});
export type VideoMode = z.infer<typeof videoModeSchema>;

const videoModelSchema = alike({
  ...commonShape,
  modality: z.literal('video'),
  modes: alike({
    /** Neither an image nor a source video. */
    text: videoModeSchema.optional(),
    /** At least one image. */
    image: videoModeSchema.optional(),
    /** At least one image that is the first or the last frame. Default: as `image`. */
    frames: videoModeSchema.optional(),
    /** A source video. */
    video: videoModeSchema.optional(),
  }),
  /** Pixels by resolution and aspect ratio. */
  sizes: z.partialRecord(videoTier, z.partialRecord(z.enum(videoAspectRatios), pixels)),
  sound: z.enum(['none', 'toggle', 'always']),
  features: z.array(z.enum(['seed', 'negativePrompt'])).default([]),
  /** Credits, by resolution and per second of output unless said otherwise. */
  price: alike({
    perSecond: z.partialRecord(videoTier, credits),
    /** Replaces `perSecond` if sound is off. */
    perSecondSilent: z.partialRecord(videoTier, credits).optional(),
    /** Replaces `perSecond` with a source video. */
    perSecondFromVideo: z.partialRecord(videoTier, credits).optional(),
    /** Added for each video of the input, which is assumed to be as long as the output. */
    perSecondOfInput: z.partialRecord(videoTier, credits).optional(),
    perImage: credits.optional(),
    perAudio: credits.optional(),
    min: credits.optional(),
  }),
});
export type VideoModel = z.infer<typeof videoModelSchema>;

const imageModelSchema = alike({
  ...commonShape,
  modality: z.literal('image'),
  /** Number of reference images. With `min` above 0 the model cannot work from text alone. */
  references: z.strictObject({ min: z.int().nonnegative(), max: z.int().nonnegative() }),
  sizes: z.partialRecord(z.enum(imageResolutions), z.partialRecord(z.enum(imageAspectRatios), pixels)),
  outputCounts: valuesSchema,
  features: z.array(z.enum(['seed'])).default([]),
  price: z.strictObject({
    perImage: z.partialRecord(z.enum(imageResolutions), credits),
    /** Added for each reference, once per request or once per image. */
    perReference: z.strictObject({ credits, each: z.enum(['request', 'image']) }).optional(),
  }),
});
export type ImageModel = z.infer<typeof imageModelSchema>;

const audioModelSchema = alike({
  ...commonShape,
  modality: z.literal('audio'),
  /** Without `default` in this list the request must name a voice. */
  speech: z.strictObject({ voices: z.array(z.enum(['preset', 'reference-audio', 'default'])).min(1) }).optional(),
  audio: z
    .strictObject({ durations: valuesSchema.optional(), loop: z.boolean(), references: z.int().nonnegative() })
    .optional(),
  price: z.discriminatedUnion('by', [
    /** `credits` for every begun block of `characters`. */
    z.strictObject({ by: z.literal('characters'), characters: count, credits }),
    z.strictObject({
      by: z.literal('seconds'),
      perSecond: credits,
      /** Replaces everything else if the request has no duration. */
      withoutDuration: credits.optional(),
      /** Speed of speech, to estimate its length. */
      charactersPerSecond: count.optional(),
      min: credits.optional(),
    }),
  ]),
});
export type AudioModel = z.infer<typeof audioModelSchema>;

type Refuse = (message: string, ...path: string[]) => void;

function checkPrices(sizes: object, prices: Readonly<Record<string, object | undefined>>, refuse: Refuse): void {
  for (const [name, byTier] of Object.entries(prices)) {
    if (byTier === undefined || Object.keys(sizes).every((tier) => Object.hasOwn(byTier, tier))) continue;
    refuse('must have each resolution of sizes', 'price', name);
  }
}

function checkMode({ resolutions, aspectRatios }: VideoMode, { sizes }: VideoModel, refuse: Refuse): void {
  const isMissing = resolutions?.some((tier) => sizes[tier] === undefined);
  if (isMissing) refuse('must be in sizes', 'resolutions');
  const used = (resolutions ?? videoResolutions).flatMap((tier) => sizes[tier] ?? []);
  if (aspectRatios === 'ofImage') return;
  if (used.some((size) => aspectRatios?.some((ratio) => size[ratio] === undefined)))
    refuse('must be in sizes at each resolution', 'aspectRatios');
}

/** Rules between the parts of a model. The pipeline relies on them. */
function checkModel(model: VideoModel | ImageModel | AudioModel, refuse: Refuse): void {
  if (model.modality === 'audio') {
    if (model.speech === undefined && model.audio === undefined) refuse('must have speech or audio, or both');
    return;
  }
  const sizes = Object.entries(model.sizes);
  if (sizes.length === 0) refuse('must not be empty', 'sizes');
  for (const [tier, ratios] of sizes) if (Object.keys(ratios).length === 0) refuse('must not be empty', 'sizes', tier);
  if (model.modality === 'image') {
    checkPrices(model.sizes, { perImage: model.price.perImage }, refuse);
    if (model.references.min > model.references.max) refuse('min must not be above max', 'references');
    return;
  }
  const { perSecond, perSecondSilent, perSecondFromVideo, perSecondOfInput } = model.price;
  checkPrices(model.sizes, { perSecond, perSecondSilent, perSecondFromVideo, perSecondOfInput }, refuse);
  const modes = Object.entries(model.modes).filter(([, mode]) => mode !== undefined);
  if (modes.length === 0) refuse('must not be empty', 'modes');
  for (const [name, mode] of modes)
    if (mode !== undefined) checkMode(mode, model, (message, ...path) => refuse(message, 'modes', name, ...path));
}

export const modelSchema = z
  .discriminatedUnion('modality', [videoModelSchema, imageModelSchema, audioModelSchema])
  .check(({ value, issues }) => {
    checkModel(value, (message, ...path) => issues.push({ code: 'custom', message, path, input: value }));
  });
export type Model = z.infer<typeof modelSchema>;
/** A model as it may be written: values with a default may be left out. */
export type ModelData = z.input<typeof modelSchema>;
