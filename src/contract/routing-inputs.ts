/**
 * The wire format of model routing: requests to generate. Unknown keys are refused.
 *
 * The service's guide shows four input fields. The others, and all limits, are from the vendor's interface description.
 */
import { z } from 'zod';
import { mediaUriSchemas } from './routing-media.ts';
import { slugSchema } from './routing-settings.ts';

export const videoAspectRatios = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] as const;
export const imageAspectRatios = [...videoAspectRatios, '2:3', '3:2', '4:5', '5:4'] as const;
export const videoResolutions = ['480p', '720p', '1080p', '4k'] as const;
export const imageResolutions = ['1k', '2k', '4k'] as const;
export type ImageAspectRatio = (typeof imageAspectRatios)[number];
export type VideoResolution = (typeof videoResolutions)[number];
export type ImageResolution = (typeof imageResolutions)[number];

// prettier-ignore
export const voicePresets = [
  'Maya', 'Arjun', 'Serene', 'Bernard', 'Billy', 'Mark', 'Clint', 'Mabel', 'Chad', 'Leslie', 'Eleanor', 'Elias',
  'Elliot', 'Grungle', 'Brodie', 'Sandra', 'Kirk', 'Kylie', 'Lara', 'Lisa', 'Malachi', 'Marlene', 'Martin', 'Miriam',
  'Monster', 'Paula', 'Pip', 'Rusty', 'Ragnar', 'Xylar', 'Maggie', 'Jack', 'Katie', 'Noah', 'James', 'Rina', 'Ella',
  'Mariah', 'Frank', 'Claudia', 'Niki', 'Vincent', 'Kendrick', 'Myrna', 'Tom', 'Wanda', 'Benjamin', 'Kiana', 'Rachel',
] as const;

const seedSchema = z.int().min(0).max(4_294_967_295);
const contentModerationSchema = z.strictObject({ publicFigureThreshold: z.enum(['auto', 'low']).optional() });

const referenceImageSchema = z.strictObject({
  uri: mediaUriSchemas.image,
  role: z.enum(['first', 'last', 'reference']),
});

const referenceVideoSchema = z.strictObject({ uri: mediaUriSchemas.video, role: z.enum(['source', 'reference']) });

const rangeSchema = z.strictObject({ start_seconds: z.int().min(0), end_seconds: z.int().positive() });
const keyframeSchema = z.union([
  z.strictObject({ uri: mediaUriSchemas.image, seconds: z.number().min(0).max(30), range: rangeSchema.optional() }),
  z.strictObject({ uri: mediaUriSchemas.image, at: z.number().min(0).max(1), range: rangeSchema.optional() }),
]);

/** At most one element may have each of these roles. */
function onceEach<Role extends string>(...roles: readonly Role[]) {
  return (context: z.core.ParsePayload<{ role: string }[]>): void => {
    for (const role of roles) {
      if (context.value.filter((element) => element.role === role).length <= 1) continue;
      context.issues.push({ code: 'custom', message: `at most one may have the role ${role}`, input: context.value });
    }
  };
}

/** Every key is optional. A source video makes it video to video, an image makes it image to video. */
export const videoInputSchema = z
  .strictObject({
    promptText: z.string().min(1).max(6_000).optional(),
    negativePrompt: z.string().max(1_000).optional(),
    referenceImages: z.array(referenceImageSchema).max(4).check(onceEach('first', 'last')).optional(),
    referenceVideos: z.array(referenceVideoSchema).max(2).check(onceEach('source')).optional(),
    referenceAudio: z
      .array(z.strictObject({ uri: mediaUriSchemas.audio }))
      .max(1)
      .optional(),
    keyframes: z.array(keyframeSchema).max(5).optional(),
    duration: z.int().min(2).max(30).optional(),
    aspectRatio: z.enum(videoAspectRatios).optional(),
    resolution: z.enum(videoResolutions).optional(),
    audio: z.boolean().optional(),
    seed: seedSchema.optional(),
    contentModeration: contentModerationSchema.optional(),
  })
  .check(({ value, issues }) => {
    if (!value.keyframes?.length || value.referenceVideos?.some(({ role }) => role === 'source')) return;
    issues.push({ code: 'custom', message: 'need a source video', path: ['keyframes'], input: value.keyframes });
  });
export type VideoInput = z.infer<typeof videoInputSchema>;

/** The guide calls a duration a number; the vendor's interface takes whole seconds. */
const lenientVideoInputSchema = videoInputSchema.safeExtend({ duration: z.number().min(2).max(30).optional() });

const imageInputShape = {
  promptText: z.string().min(1).max(32_000),
  referenceImages: z
    .array(z.strictObject({ uri: mediaUriSchemas.image }))
    .max(16)
    .optional(),
  aspectRatio: z.enum(imageAspectRatios).optional(),
  resolution: z.enum(imageResolutions).optional(),
  outputCount: z.int().min(1).max(10).optional(),
  seed: seedSchema.optional(),
  contentModeration: contentModerationSchema.optional(),
};
export const imageInputSchema = z.strictObject(imageInputShape);
export type ImageInput = z.infer<typeof imageInputSchema>;

const voiceSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('preset'), presetId: z.enum(voicePresets) }),
  z.strictObject({ type: z.literal('reference-audio'), audioUri: mediaUriSchemas.audio }),
]);

const audioTypeSchema = z.enum(['speech', 'audio']);

const audioInputShape = {
  type: audioTypeSchema,
  promptText: z.string().min(1).max(5_000),
  voice: voiceSchema.optional(),
  referenceAudios: z
    .array(z.strictObject({ uri: mediaUriSchemas.audio }))
    .max(3)
    .optional(),
  duration: z.number().min(0.5).max(30).optional(),
  loop: z.boolean().optional(),
};
export const audioInputSchema = z.strictObject(audioInputShape);
export type AudioInput = z.infer<typeof audioInputSchema>;

function requestOf<Input extends z.ZodType>(input: Input) {
  return z.strictObject({ configId: slugSchema, input, dryRun: z.boolean().optional() });
}

/** As strict as the live service. */
export const generateRequestSchemas = {
  video: requestOf(videoInputSchema),
  image: requestOf(imageInputSchema),
  audio: requestOf(audioInputSchema),
};

// Fields that are ignored in a modality where they mean nothing: only their type is checked.
const anyDuration = z.number().positive();
const anyAspectRatio = z.string().regex(/^\d{1,5}:\d{1,5}$/, 'must be of the form <width>:<height>');
const anyResolution = z.string().regex(/^\d{1,5}[pk]$/, 'must be a tier such as 720p or 4k');

const isImageResolution = (tier: string): tier is ImageResolution =>
  (imageResolutions as readonly string[]).includes(tier);

const lenientImageInputSchema = z
  .strictObject({
    ...imageInputShape,
    duration: anyDuration.optional(),
    resolution: z.enum([...imageResolutions, '480p', '720p', '1080p']).optional(),
  })
  .transform((given): ImageInput => {
    const { resolution, ...input } = without(given, 'duration');
    // A resolution such as 720p means nothing for an image.
    return resolution !== undefined && isImageResolution(resolution) ? { ...input, resolution } : input;
  });

const lenientAudioInputSchema = z
  .strictObject({
    ...audioInputShape,
    type: audioTypeSchema.optional(),
    duration: anyDuration.optional(),
    aspectRatio: anyAspectRatio.optional(),
    resolution: anyResolution.optional(),
  })
  .transform((given): AudioInput => {
    const input = without(given, 'aspectRatio', 'resolution');
    const isDescribed = [input.duration, input.loop, input.referenceAudios].some((value) => value !== undefined);
    const type = input.type ?? (isDescribed ? 'audio' : 'speech');
    // The text decides how long speech takes.
    return type === 'speech' ? { ...without(input, 'duration'), type } : { ...input, type };
  })
  // A duration that means something must be within its limits.
  .pipe(audioInputSchema);

function without<Given extends object, Key extends keyof Given>(given: Given, ...keys: Key[]): Omit<Given, Key> {
  const rest = { ...given };
  for (const key of keys) delete rest[key];
  return rest;
}

/**
 * Takes what the service's guide alone lets a client send: `promptText`, `duration`, `aspectRatio` and `resolution` on every
 * modality, ignored where they mean nothing, such as the duration of speech, and fractions of a second. Audio without `type`
 * is speech, or sound if `duration`, `loop` or `referenceAudios` is given, whatever its value. The output is that of `generateRequestSchemas`.
 */
export const lenientGenerateRequestSchemas = {
  video: requestOf(lenientVideoInputSchema),
  image: requestOf(lenientImageInputSchema),
  audio: requestOf(lenientAudioInputSchema),
};
