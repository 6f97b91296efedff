/**
 * Image models. Sizes, prompt limits, references, counts and prices are the vendor's as far as they are published. The
 * emulator chose `quality`, `strengths`, `expectedSeconds`, and the values whose comment says so. A model with a quality
 * setting of its own is entered at the setting's default, since requests cannot name it.
 */
import type { ModelData } from './model.ts';

const gen4Sizes = {
  '1k': {
    '1:1': '720:720',
    '16:9': '1280:720',
    '9:16': '720:1280',
    '4:3': '960:720',
    '3:4': '720:960',
    '21:9': '1680:720',
  },
  '2k': {
    '1:1': '1080:1080',
    '16:9': '1920:1080',
    '9:16': '1080:1920',
    '4:3': '1440:1080',
    '3:4': '1080:1440',
    '21:9': '2112:912',
  },
};

const gemini1k = {
  '1:1': '1024:1024',
  '16:9': '1344:768',
  '9:16': '768:1344',
  '4:3': '1184:864',
  '3:4': '864:1184',
  '21:9': '1536:672',
  '2:3': '832:1248',
  '3:2': '1248:832',
  '4:5': '896:1152',
  '5:4': '1152:896',
};
const gemini2k = {
  '1:1': '2048:2048',
  '16:9': '2752:1536',
  '9:16': '1536:2752',
  '4:3': '2400:1792',
  '3:4': '1792:2400',
  '21:9': '3168:1344',
  '2:3': '1696:2528',
  '3:2': '2528:1696',
  '4:5': '1856:2304',
  '5:4': '2304:1856',
};
const gemini4k = {
  '1:1': '4096:4096',
  '16:9': '5504:3072',
  '9:16': '3072:5504',
  '4:3': '4800:3584',
  '3:4': '3584:4800',
  '21:9': '6336:2688',
  '2:3': '3392:5056',
  '3:2': '5056:3392',
  '4:5': '3712:4608',
  '5:4': '4608:3712',
};

const gptSizes = {
  '2k': {
    '1:1': '1920:1920',
    '16:9': '1920:1088',
    '9:16': '1088:1920',
    '4:3': '1920:1440',
    '3:4': '1440:1920',
    '21:9': '2048:880',
    '2:3': '1280:1920',
    '3:2': '1920:1280',
    '4:5': '1536:1920',
    '5:4': '1920:1536',
  },
  '4k': {
    '1:1': '2880:2880',
    '16:9': '3840:2160',
    '9:16': '2160:3840',
    '4:3': '3264:2448',
    '3:4': '2448:3264',
    '21:9': '3840:1648',
    '2:3': '2336:3504',
    '3:2': '3504:2336',
    '4:5': '2560:3200',
    '5:4': '3200:2560',
  },
};

const museSizes = {
  '2k': {
    '1:1': '1600:1600',
    '16:9': '2016:1152',
    '9:16': '1152:2016',
    '4:3': '1792:1344',
    '3:4': '1344:1792',
    '21:9': '2352:1008',
    '2:3': '1280:1920',
    '3:2': '1920:1280',
  },
};

const seedreamProSizes = {
  '1k': {
    '1:1': '1024:1024',
    '16:9': '1376:768',
    '9:16': '768:1376',
    '4:3': '1184:896',
    '3:4': '896:1184',
    '2:3': '864:1296',
    '3:2': '1296:864',
  },
  '2k': {
    '1:1': '2048:2048',
    '16:9': '2720:1530',
    '9:16': '1530:2720',
    '4:3': '2304:1728',
    '3:4': '1728:2304',
    '2:3': '1664:2496',
    '3:2': '2496:1664',
  },
};

// The model takes any size of 3.7 to 16.8 million pixels. Those of 4:5 and 5:4 are chosen, the others are published, the
// larger of them with about nine million pixels, which requests can only name as 4k.
const seedreamLiteSizes = {
  '2k': {
    '1:1': '2048:2048',
    '16:9': '2848:1600',
    '9:16': '1600:2848',
    '4:3': '2304:1728',
    '3:4': '1728:2304',
    '21:9': '3136:1344',
    '2:3': '1664:2496',
    '3:2': '2496:1664',
    '4:5': '1856:2320',
    '5:4': '2320:1856',
  },
  '4k': {
    '1:1': '3072:3072',
    '16:9': '4096:2304',
    '9:16': '2304:4096',
    '4:3': '3456:2592',
    '3:4': '2592:3456',
    '21:9': '4704:2016',
    '2:3': '2496:3744',
    '3:2': '3744:2496',
    '4:5': '2752:3440',
    '5:4': '3440:2752',
  },
};

const grokSizes = {
  '1k': {
    '1:1': '1024:1024',
    '16:9': '1280:720',
    '9:16': '720:1280',
    '4:3': '1152:864',
    '3:4': '864:1152',
    '2:3': '832:1248',
    '3:2': '1248:832',
  },
  '2k': {
    '1:1': '2048:2048',
    '16:9': '2816:1584',
    '9:16': '1584:2816',
    '4:3': '2368:1776',
    '3:4': '1776:2368',
    '2:3': '1664:2496',
    '3:2': '2496:1664',
  },
};

const common = { modality: 'image', concurrencyGroup: 'image' } as const;

const runwayModels: readonly ModelData[] = [
  {
    // Its classes of 720p and 1080p are entered as 1k and 2k.
    ...common,
    id: 'gen4_image',
    provider: 'runway',
    references: { min: 0, max: 3 },
    sizes: gen4Sizes,
    outputCounts: [1],
    features: ['seed'],
    promptCharacters: { max: 1_000 },
    price: { perImage: { '1k': 5, '2k': 8 } },
    quality: 6,
    strengths: { style: 8, people: 7 },
    expectedSeconds: 14,
  },
  {
    ...common,
    id: 'gen4_image_turbo',
    provider: 'runway',
    references: { min: 1, max: 3 },
    sizes: gen4Sizes,
    outputCounts: [1],
    features: ['seed'],
    promptCharacters: { max: 1_000 },
    price: { perImage: { '1k': 2, '2k': 2 } },
    quality: 5,
    strengths: { style: 6 },
    expectedSeconds: 5,
  },
];

const googleModels: readonly ModelData[] = [
  {
    ...common,
    id: 'gemini_2.5_flash',
    provider: 'google',
    references: { min: 0, max: 3 },
    sizes: { '1k': gemini1k },
    outputCounts: [1],
    promptCharacters: { max: 5_500 },
    price: { perImage: { '1k': 5 } },
    quality: 6,
    strengths: { realism: 7 },
    expectedSeconds: 7,
  },
  {
    ...common,
    id: 'gemini_image3_pro',
    provider: 'google',
    references: { min: 0, max: 14 },
    sizes: { '1k': gemini1k, '2k': gemini2k, '4k': gemini4k },
    outputCounts: [1, 4],
    promptCharacters: { max: 5_500 },
    price: { perImage: { '1k': 20, '2k': 20, '4k': 40 } },
    quality: 9,
    strengths: { realism: 10, people: 10, language: 10, lettering: 9, places: 8 },
    expectedSeconds: 25,
  },
  {
    // Requests cannot ask for its size 512. The prices of 2k and 4k are chosen.
    ...common,
    id: 'gemini_image3.1_flash',
    provider: 'google',
    references: { min: 0, max: 14 },
    sizes: { '1k': gemini1k, '2k': gemini2k, '4k': gemini4k },
    outputCounts: [1, 4],
    promptCharacters: { max: 5_500 },
    price: { perImage: { '1k': 7, '2k': 10, '4k': 15 } },
    quality: 8,
    strengths: { places: 10, animals: 10, realism: 8, language: 9 },
    expectedSeconds: 9,
  },
];

const gptImage = {
  ...common,
  provider: 'openai',
  references: { min: 0, max: 16 },
  sizes: gptSizes,
  outputCounts: { min: 1, max: 10 },
};

const openaiModels: readonly ModelData[] = [
  {
    ...gptImage,
    id: 'gpt_image_2',
    promptCharacters: { max: 32_000 },
    price: { perImage: { '2k': 20, '4k': 41 } },
    quality: 9,
    strengths: { lettering: 10, detail: 10, style: 9 },
    expectedSeconds: 40,
  },
  {
    ...gptImage,
    id: 'gpt_image_2_5_flare',
    price: { perImage: { '2k': 16, '4k': 19 }, perReference: { credits: 1, each: 'image' } },
    quality: 9,
    strengths: { style: 10, lettering: 9, effects: 10 },
    expectedSeconds: 22,
  },
  {
    ...gptImage,
    id: 'gpt_image_2_5_sunburst',
    price: { perImage: { '2k': 16, '4k': 19 }, perReference: { credits: 1, each: 'image' } },
    quality: 10,
    strengths: { lettering: 10, detail: 10, people: 8, realism: 8 },
    expectedSeconds: 30,
  },
];

const otherModels: readonly ModelData[] = [
  {
    ...common,
    id: 'seedream5_pro',
    provider: 'bytedance',
    references: { min: 0, max: 10 },
    sizes: seedreamProSizes,
    outputCounts: { min: 1, max: 4 },
    promptCharacters: { max: 4_000 },
    price: { perImage: { '1k': 5, '2k': 9 } },
    quality: 8,
    strengths: { product: 10, people: 9, style: 9, language: 9 },
    expectedSeconds: 16,
  },
  {
    ...common,
    id: 'seedream5_lite',
    provider: 'bytedance',
    references: { min: 0, max: 14 },
    sizes: seedreamLiteSizes,
    outputCounts: { min: 1, max: 4 },
    promptCharacters: { max: 4_000 },
    price: { perImage: { '2k': 4, '4k': 4 } },
    quality: 7,
    strengths: { style: 8, language: 8, product: 8 },
    expectedSeconds: 10,
  },
  {
    // The maximum length of prompts is not published.
    ...common,
    id: 'grok_imagine_image_2',
    provider: 'xai',
    references: { min: 0, max: 3 },
    sizes: grokSizes,
    outputCounts: { min: 1, max: 4 },
    price: { perImage: { '1k': 6, '2k': 8 }, perReference: { credits: 1, each: 'request' } },
    quality: 6,
    strengths: { style: 7 },
    expectedSeconds: 8,
  },
  {
    // The maximum length of prompts is not published, and the largest number of outputs is chosen.
    ...common,
    id: 'muse_image',
    provider: 'meta',
    references: { min: 0, max: 10 },
    sizes: museSizes,
    outputCounts: { min: 1, max: 4 },
    price: { perImage: { '2k': 1 } },
    quality: 4,
    strengths: { people: 5 },
    expectedSeconds: 6,
  },
];

export const imageModels: readonly ModelData[] = [...runwayModels, ...googleModels, ...openaiModels, ...otherModels];
