/**
 * Video models. Modes, durations, pixels, features, prompt limits and prices are the vendor's as far as they are published;
 * what a mode takes and needs is what the official client's types say of the vendor's endpoint for it. The emulator chose
 * `quality`, `strengths`, `expectedSeconds`, and the values whose comment says so. A tier that requests cannot name is
 * entered as the nearest one: 768p as 720p, 2k as 1080p.
 */
import type { ModelData } from './model.ts';
import {
  named1080,
  named2k,
  named480,
  named720,
  named768,
  portraitAndLandscape1080,
  portraitAndLandscape720,
  runway720,
  seedance1080,
  seedance480,
  seedance4k,
  seedance720,
  wanSizes,
} from './video-sizes.ts';

const firstFrame = { max: 1, roles: [['first' as const]] };
const eitherFrame = { max: 2, roles: [['first' as const, 'last' as const]] };
const firstAndLastFrame = { ...eitherFrame, lastNeedsFirst: true as const };
const references = (max: number) => ({ max, roles: [['reference' as const]] });

const common = { modality: 'video', concurrencyGroup: 'video' } as const;

/** The same price for each of these tiers. */
function at<Tier extends string>(credits: number, ...tiers: readonly Tier[]): Record<Tier, number> {
  return Object.fromEntries(tiers.map((tier) => [tier, credits])) as Record<Tier, number>;
}

/** Common values of the three models of the second generation. */
function seedance2Modes() {
  const durations = { min: 4, max: 15 };
  return {
    text: { durations, videos: 3, audios: 3 },
    image: { durations, images: references(9), videos: 3, audios: 3, promptOptional: true as const },
    frames: { durations, images: eitherFrame, audios: 3, promptOptional: true as const },
    video: { durations, images: references(9), videos: 3, audios: 3, promptOptional: true as const },
  };
}

const runwayModels: readonly ModelData[] = [
  {
    ...common,
    id: 'gen4.5',
    provider: 'runway',
    modes: {
      text: { durations: { min: 2, max: 10 }, aspectRatios: ['16:9', '9:16'] },
      image: { durations: { min: 2, max: 10 }, images: firstFrame },
    },
    sizes: { '720p': runway720 },
    sound: 'none',
    features: ['seed'],
    promptCharacters: { max: 1_000 },
    price: { perSecond: { '720p': 12 } },
    quality: 7,
    strengths: { camera: 10, product: 10, realism: 8, motion: 7 },
    expectedSeconds: 45,
  },
  {
    ...common,
    id: 'gen4_turbo',
    provider: 'runway',
    modes: { image: { durations: { min: 2, max: 10 }, images: firstFrame, promptOptional: true } },
    sizes: { '720p': runway720 },
    sound: 'none',
    features: ['seed'],
    promptCharacters: { max: 1_000 },
    price: { perSecond: { '720p': 5 } },
    quality: 5,
    strengths: { camera: 6, product: 5 },
    expectedSeconds: 25,
  },
  {
    // Its output is as long as the source, which is not measured here; `duration` stands for it. That and the pixels are chosen.
    ...common,
    id: 'aleph2',
    provider: 'runway',
    modes: { video: { durations: { min: 2, max: 30 }, videos: 1, keyframes: 5, promptOptional: true } },
    sizes: { '720p': runway720 },
    sound: 'none',
    features: ['seed'],
    promptCharacters: { max: 1_000 },
    price: { perSecond: { '720p': 28 }, min: 56 },
    quality: 9,
    strengths: { style: 10 },
    expectedSeconds: 90,
  },
];

const googleModels: readonly ModelData[] = [
  {
    ...common,
    id: 'veo3.1',
    provider: 'google',
    modes: {
      text: { durations: [4, 6, 8] },
      image: { durations: [4, 6, 8], images: firstAndLastFrame, promptOptional: true },
    },
    sizes: { '720p': portraitAndLandscape720, '1080p': portraitAndLandscape1080 },
    sound: 'toggle',
    features: ['seed', 'negativePrompt'],
    promptCharacters: { max: 1_000 },
    price: { perSecond: at(40, '720p', '1080p'), perSecondSilent: at(20, '720p', '1080p') },
    quality: 9,
    strengths: { dialogue: 10, sound: 10, realism: 10, people: 8, places: 8, music: 6 },
    expectedSeconds: 70,
  },
  {
    ...common,
    id: 'veo3.1_fast',
    provider: 'google',
    modes: {
      text: { durations: [4, 6, 8] },
      image: { durations: [4, 6, 8], images: firstAndLastFrame, promptOptional: true },
    },
    sizes: { '720p': portraitAndLandscape720, '1080p': portraitAndLandscape1080 },
    sound: 'toggle',
    features: ['seed', 'negativePrompt'],
    promptCharacters: { max: 1_000 },
    price: { perSecond: at(15, '720p', '1080p'), perSecondSilent: at(10, '720p', '1080p') },
    quality: 7,
    strengths: { dialogue: 9, sound: 8, realism: 8 },
    expectedSeconds: 40,
  },
  {
    ...common,
    id: 'gemini_omni_flash',
    provider: 'google',
    modes: {
      text: { durations: { min: 3, max: 10 } },
      image: { durations: { min: 3, max: 10 }, images: firstFrame, promptOptional: true },
      video: { durations: { min: 3, max: 10 }, images: references(5), videos: 1 },
    },
    sizes: { '720p': portraitAndLandscape720 },
    // Not published; chosen. So is that `duration` stands for the length of a source video.
    sound: 'always',
    promptCharacters: { max: 4_000 },
    price: { perSecond: { '720p': 10 }, perSecondFromVideo: { '720p': 11 }, perImage: 1 },
    quality: 8,
    strengths: { lettering: 9, language: 9, people: 7, motion: 7 },
    expectedSeconds: 35,
  },
  {
    // Requests cannot ask for its 360p. The price of 1080p, sound and the number of references are chosen.
    ...common,
    id: 'gemini_omni_flash_1.1',
    provider: 'google',
    modes: {
      text: { durations: { min: 3, max: 10 }, videos: 1 },
      image: { durations: { min: 3, max: 10 }, images: references(5), videos: 1 },
      frames: { durations: { min: 3, max: 10 }, images: firstAndLastFrame },
      video: { durations: { min: 3, max: 10 }, images: references(5), videos: 1 },
    },
    sizes: {
      '720p': portraitAndLandscape720,
      '1080p': portraitAndLandscape1080,
      '4k': { '16:9': '3840:2160', '9:16': '2160:3840' },
    },
    sound: 'always',
    price: { perSecond: { '720p': 10, '1080p': 15, '4k': 30 }, perImage: 1 },
    quality: 8,
    strengths: { lettering: 10, language: 10, people: 7, motion: 7 },
    expectedSeconds: 38,
  },
];

const bytedanceModels: readonly ModelData[] = [
  {
    ...common,
    id: 'seedance2',
    provider: 'bytedance',
    modes: seedance2Modes(),
    sizes: { '480p': seedance480, '720p': seedance720, '1080p': seedance1080, '4k': seedance4k },
    sound: 'toggle',
    features: ['seed'],
    promptCharacters: { max: 3_500 },
    price: { perSecond: { '480p': 36, '720p': 36, '1080p': 40, '4k': 150 } },
    quality: 9,
    strengths: { motion: 10, places: 9, camera: 8, effects: 8, people: 8 },
    expectedSeconds: 80,
  },
  {
    ...common,
    id: 'seedance2_fast',
    provider: 'bytedance',
    modes: seedance2Modes(),
    sizes: { '480p': seedance480, '720p': seedance720 },
    sound: 'toggle',
    features: ['seed'],
    promptCharacters: { max: 3_500 },
    price: { perSecond: at(29, '480p', '720p') },
    quality: 7,
    strengths: { motion: 8, camera: 7 },
    expectedSeconds: 20,
  },
  {
    ...common,
    id: 'seedance2_mini',
    provider: 'bytedance',
    modes: seedance2Modes(),
    sizes: { '480p': seedance480, '720p': seedance720 },
    sound: 'toggle',
    features: ['seed'],
    promptCharacters: { max: 3_500 },
    price: { perSecond: at(16, '480p', '720p'), min: 64 },
    quality: 5,
    strengths: { motion: 6 },
    expectedSeconds: 30,
  },
  {
    ...common,
    id: 'seedance2_5',
    provider: 'bytedance',
    modes: {
      text: { durations: { min: 4, max: 30 }, videos: 10, audios: 10, promptOptional: true },
      image: {
        durations: { min: 4, max: 30 },
        images: references(30),
        videos: 10,
        audios: 10,
        promptOptional: true,
      },
      frames: { durations: { min: 4, max: 30 }, images: eitherFrame, audios: 10, promptOptional: true },
      video: { durations: { min: 4, max: 30 }, images: references(30), videos: 10, audios: 10, promptOptional: true },
    },
    sizes: {
      '480p': { ...seedance480, '16:9': '854:480', '9:16': '480:854' },
      '720p': seedance720,
      '1080p': seedance1080,
    },
    sound: 'toggle',
    features: ['seed'],
    promptCharacters: { max: 15_000 },
    price: {
      perSecond: { '480p': 20, '720p': 30, '1080p': 68 },
      perSecondOfInput: { '480p': 10, '720p': 15, '1080p': 34 },
      min: 80,
    },
    quality: 10,
    strengths: { detail: 10, people: 8, motion: 8, camera: 8, places: 8, sound: 8 },
    expectedSeconds: 110,
  },
];

const otherModels: readonly ModelData[] = [
  {
    // Sound is not published; chosen.
    ...common,
    id: 'hailuo3',
    provider: 'minimax',
    modes: {
      text: { durations: { min: 5, max: 15 }, videos: 3, audios: 3 },
      image: { durations: { min: 5, max: 15 }, images: references(9), videos: 3, audios: 3 },
      frames: { durations: { min: 5, max: 15 }, images: eitherFrame, audios: 3 },
      video: { durations: { min: 5, max: 15 }, images: references(9), videos: 3, audios: 3 },
    },
    sizes: { '720p': { ...named768, '21:9': '1792:768' }, '1080p': { ...named2k, '21:9': '3360:1440' } },
    sound: 'always',
    promptCharacters: { max: 6_000 },
    price: { perSecond: { '720p': 10, '1080p': 15 }, perSecondOfInput: { '720p': 10, '1080p': 15 }, perImage: 2 },
    quality: 7,
    strengths: { people: 10, effects: 10, motion: 8 },
    expectedSeconds: 75,
  },
  {
    // Ratios and sound are not published; chosen.
    ...common,
    id: 'h3_max',
    provider: 'minimax',
    modes: {
      text: { durations: { min: 5, max: 15 } },
      image: { durations: { min: 5, max: 15 }, images: firstAndLastFrame },
    },
    sizes: { '480p': named480, '720p': named768 },
    sound: 'none',
    features: ['seed'],
    price: { perSecond: { '480p': 5, '720p': 8 } },
    quality: 4,
    strengths: { motion: 5 },
    expectedSeconds: 50,
  },
  {
    // The shortest duration and the number of videos and sounds are not published; chosen, also below.
    ...common,
    id: 'wan3',
    provider: 'alibaba',
    modes: {
      text: { durations: { min: 2, max: 30 }, videos: 1, audios: 1 },
      image: { durations: { min: 2, max: 30 }, images: references(10), videos: 1, audios: 1 },
      frames: { durations: { min: 2, max: 30 }, aspectRatios: 'ofImage', images: eitherFrame, videos: 1, audios: 1 },
    },
    sizes: wanSizes,
    sound: 'toggle',
    price: { perSecond: { '480p': 5, '720p': 10, '1080p': 20 } },
    quality: 6,
    strengths: { style: 8, language: 8 },
    expectedSeconds: 65,
  },
  {
    ...common,
    id: 'wan3_prime',
    provider: 'alibaba',
    modes: {
      text: { durations: { min: 2, max: 30 }, videos: 1, audios: 1 },
      image: { durations: { min: 2, max: 30 }, images: references(10), videos: 1, audios: 1 },
      frames: { durations: { min: 2, max: 30 }, aspectRatios: 'ofImage', images: eitherFrame, videos: 1, audios: 1 },
    },
    sizes: wanSizes,
    sound: 'toggle',
    price: { perSecond: { '480p': 6.8, '720p': 14, '1080p': 28 } },
    quality: 7,
    strengths: { style: 10, language: 9, realism: 7 },
    expectedSeconds: 85,
  },
  {
    // Sound and the number of references are chosen. Requests cannot name its ratios 3:2 and 2:3.
    ...common,
    id: 'grok_imagine_1_5',
    provider: 'xai',
    modes: {
      text: { durations: { min: 1, max: 15 } },
      image: { durations: { min: 1, max: 15 }, images: references(4), audios: 1, resolutions: ['480p', '720p'] },
      frames: { durations: { min: 1, max: 15 }, aspectRatios: 'ofImage', images: firstFrame, promptOptional: true },
    },
    sizes: { '480p': named480, '720p': named720, '1080p': named1080 },
    sound: 'always',
    price: { perSecond: { '480p': 10, '720p': 16, '1080p': 29 }, perImage: 1, perAudio: 1 },
    quality: 6,
    strengths: { music: 10, style: 7, sound: 8 },
    expectedSeconds: 28,
  },
  {
    // Sound is not published; chosen.
    ...common,
    id: 'happyhorse_1_0',
    provider: 'alibaba',
    modes: {
      text: { durations: { min: 3, max: 15 } },
      image: { durations: { min: 3, max: 15 }, aspectRatios: 'ofImage', images: firstFrame, promptOptional: true },
    },
    sizes: {
      '720p': { '16:9': '1280:720', '9:16': '720:1280', '1:1': '960:960', '4:3': '1108:832', '3:4': '832:1108' },
      '1080p': { '16:9': '1920:1080', '9:16': '1080:1920', '1:1': '1440:1440', '4:3': '1662:1248', '3:4': '1248:1662' },
    },
    sound: 'always',
    promptCharacters: { min: 2, max: 2_500 },
    price: { perSecond: { '720p': 15, '1080p': 30 } },
    quality: 6,
    strengths: { animals: 10, people: 8, dialogue: 7 },
    expectedSeconds: 55,
  },
];

export const videoModels: readonly ModelData[] = [...runwayModels, ...googleModels, ...bytedanceModels, ...otherModels];
