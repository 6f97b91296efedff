/** The films that stand for generated video: files beside this one, which `test/support/write-films.ts` writes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const filmShapes = ['16:9', '9:16', '1:1', '4:3', '3:4', '21:9'] as const;
export const filmColours = ['blue', 'green', 'orange', 'red'] as const;

/** `npm run build` copies it to where this module is built. */
export const filmDirectory = join(import.meta.dirname, 'films');

export function filmName(shape: string, colour: string): string {
  return `${shape.replace(':', 'x')}-${colour}.mp4`;
}

export interface FilmWanted {
  /** Such as `1280:720`. */
  readonly ratio: string;
  /** Selects one of the colours. */
  readonly variant: number;
  /** Whole seconds, at least one. */
  readonly seconds: number;
}

/** A silent MP4 (H.264) of one colour, in the nearest of the shapes. */
export function readFilm({ ratio, variant, seconds }: FilmWanted): Buffer<ArrayBuffer> {
  const colour = filmColours[variant % filmColours.length] ?? filmColours[0];
  const film = readFileSync(join(filmDirectory, filmName(nearestShape(ratio), colour)));
  for (const { box, at } of durations) film.writeUInt32BE(seconds, film.indexOf(box, 0, 'latin1') + at);
  return film;
}

/** Places of a film's length in seconds, counted from the name of their box. The one picture is shown all the time. */
const durations = [
  { box: 'mvhd', at: 20 },
  { box: 'tkhd', at: 24 },
  { box: 'mdhd', at: 20 },
  { box: 'stts', at: 16 },
] as const;

function nearestShape(ratio: string): string {
  const wanted = Math.log(quotientOf(ratio));
  const distance = (shape: string): number => Math.abs(Math.log(quotientOf(shape)) - wanted);
  return filmShapes.reduce<string>((nearest, shape) => (distance(shape) < distance(nearest) ? shape : nearest), '16:9');
}

function quotientOf(ratio: string): number {
  const [width = 1, height = 1] = ratio.split(':').map(Number);
  return width / height;
}
