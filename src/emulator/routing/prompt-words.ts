/** The words by which traits of a prompt are recognised. English, and the commonest words of three more languages. */

export const traits = [
  'people',
  'animals',
  'places',
  'product',
  'lettering',
  'motion',
  'effects',
  'camera',
  'style',
  'realism',
  'dialogue',
  'sound',
  'music',
  'expression',
  'detail',
  'language',
] as const;
export type Trait = (typeof traits)[number];

const wordsOf: Partial<Record<Trait, string>> = {
  people:
    'person people man men woman women child children kid kids boy boys girl girls baby crowd crowds face faces portrait portraits selfie actor actress couple couples family hand hands human humans chef dancer dancers athlete athletes worker workers player players pedestrian pedestrians figure figures friend friends soldier soldiers teacher doctor nurse singer fisherman grandmother grandfather mensch menschen leute person personen frau mann kind kinder gens personne personnes femme homme enfants persona personas gente mujer hombre niños',
  animals:
    'animal animals dog dogs puppy cat cats kitten horse horses bird birds eagle owl fish shark whale dolphin lion lions tiger bear bears wolf wolves fox foxes deer rabbit elephant elephants monkey gorilla cow cows sheep butterfly bee spider snake turtle penguin penguins wildlife hund hunde katze katzen pferd vogel vögel chien chat cheval oiseau oiseaux perro gato caballo pájaro pájaros',
  places:
    'landscape landscapes beach lake river island ocean garden square mountain mountains valley forest desert canyon skyline cityscape city street streets village castle cathedral temple building buildings architecture interior kitchen coastline cliff cliffs waterfall glacier meadow jungle horizon harbour harbor berge landschaft wald stadt montagne montagnes paysage forêt ville montañas paisaje bosque ciudad',
  product:
    'product products packshot perfume bottle bottles sneaker sneakers shoe wristwatch smartphone packaging cosmetics lipstick commercial advert advertisement showroom turntable unboxing e-commerce produkt flasche produit bouteille producto botella',
  lettering:
    'text texts sign signs signage logo logos watermark watermarks label labels poster posters typography headline caption captions lettering letters title titles subtitle subtitles word words written writing reads slogan banner billboard billboards infographic calligraphy font schrift schriftzug schild schilder plakat texte texto letrero letreros cartel panneau enseigne affiche',
  motion:
    'run runs running jump jumps jumping leap leaps leaping dance dances dancing fly flies flying walk walks walking chase chases chasing fall falls falling fight fights fighting race races racing swim swims swimming spin spins spinning gallop gallops galloping sprint sprints sprinting drift drifts skateboarding somersault backflip fast action slow-motion timelapse time-lapse motion movement moving parkour',
  effects:
    'explosion explosions explode explodes exploding fire flames smoke fog-machine sparks lightning magic magical spell particles shockwave laser lasers hologram holographic portal portals fireworks lava molten shatter shatters shattering dissolve dissolves dissolving transform transforms transforming morph morphs morphing splash splashes vfx',
  camera:
    'camera zoom zooms zooming pan pans tilt dolly tracking drone aerial handheld close-up closeup wide-angle crane orbit orbits steadicam shot pov bokeh lens fisheye panorama panning crash-zoom rack-focus',
  style:
    'anime cartoon watercolor watercolour illustration illustrated painting painted sketch comic manga pixel pixel-art claymation stop-motion low-poly isometric surreal abstract stylized stylised vintage retro cyberpunk steampunk impressionist ghibli oil-painting drawing drawn origami noir charcoal ukiyo-e papercraft felt zeichentrick aquarell dessin aquarelle acuarela',
  realism:
    'photo photos photograph photographic photorealistic realistic realism lifelike documentary raw dslr cinematic hyperrealistic footage 35mm newsreel foto',
  dialogue:
    'say says said saying speak speaks speaking talk talks talking dialogue dialog speech conversation interview asks answers whisper whispers whispering shouts narrator narration voiceover voice-over podcast argue argues spricht sprechen parle parlent habla hablan',
  sound:
    'sound sounds noise noises audio ambience ambient sfx rain thunder wind footsteps footstep birdsong engine crackling hum humming echo whoosh door bell bells applause roar roars roaring siren regen donner pluie lluvia',
  music:
    'music song songs melody soundtrack piano guitar drum drums orchestra orchestral beat beats jazz techno synth violin singing sings singer chorus lo-fi lofi musik musique música',
};

/** Words that say that something is absent. */
const absentBy: Readonly<Record<string, readonly Trait[]>> = {
  silent: ['dialogue', 'sound', 'music'],
  silence: ['dialogue', 'sound', 'music'],
  mute: ['dialogue', 'sound', 'music'],
  muted: ['dialogue', 'sound', 'music'],
  soundless: ['dialogue', 'sound', 'music'],
  wordless: ['dialogue', 'lettering'],
  speechless: ['dialogue'],
  textless: ['lettering'],
  unlabeled: ['lettering'],
  unlabelled: ['lettering'],
  motionless: ['motion'],
  nobody: ['people'],
  deserted: ['people'],
  unpeopled: ['people'],
  uninhabited: ['people'],
  menschenleer: ['people'],
  menschenleere: ['people'],
};

/** Names of a trait as a whole. Ruling one out rules out the trait, whatever else of it the prompt mentions. */
const wholeTraits = new Set(
  'text lettering letters typography writing dialogue dialog speech sound audio music motion movement'.split(' '),
);

/** Words that mean something else beside a certain neighbour. */
const phrases = new Set([
  'fast food',
  'clock face',
  'rock face',
  'cliff face',
  'clock hand',
  'clock hands',
  'sign language',
  'dead letters',
  'action figure',
  'action figures',
  'shot glass',
  'fish eye',
  'door handle',
  'bell pepper',
  'fire station',
  'city hall',
]);

export const traitsOfWord: ReadonlyMap<string, readonly Trait[]> = new Map(
  [
    ...Map.groupBy(
      Object.entries(wordsOf).flatMap(([trait, words]) =>
        words.split(' ').map((word) => ({ word, trait: trait as Trait })),
      ),
      ({ word }) => word,
    ),
  ].map(([word, entries]) => [word, entries.map(({ trait }) => trait)]),
);

export function traitsAbsentBy(word: string): readonly Trait[] {
  return Object.hasOwn(absentBy, word) ? (absentBy[word] ?? []) : [];
}

export function isWholeTrait(word: string): boolean {
  return wholeTraits.has(word);
}

/** Whether two words together mean something that neither of them means alone. */
export function isPhrase(word: string, next: string | undefined): boolean {
  return next !== undefined && phrases.has(`${word} ${next}`);
}
