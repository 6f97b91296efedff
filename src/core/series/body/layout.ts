/**
 * Where things are in the memory of the program that writes bodies: read by TypeScript and compiled into the program (AssemblyScript), so only
 * numbers. Places are byte offsets; what stands there is an integer of 32 bits.
 */

/** Where the next driver or point stands, and where the section ends. */
export const readAt = 0;
export const readEndAt = 4;
/** Where the next byte goes, and behind which place nothing is written. */
export const textAt = 8;
export const textEndAt = 12;
/** How many points of the driver are to be written; -1: the driver is yet to begin. */
export const leftAt = 16;
/** The place of the next point, the month of the point before it, and that of the next point where the text at its place is of another one. */
export const placeAt = 20;
export const monthAt = 24;
export const wantedAt = 28;
/** How many drivers were begun. */
export const driversAt = 32;
/** 1: no driver stands before this one. */
export const isFirstAt = 36;

/** Texts between those of a driver, and how long they are. Each has room for words of eight bytes. */
export const idTextAt = 64;
export const idTextLength = 7;
export const pathTextAt = 72;
export const pathTextLength = 8;
export const seriesTextAt = 80;
export const seriesTextLength = 15;
export const pointsEndTextAt = 96;
export const pointsEndTextLength = 4;
export const noPointsEndTextAt = 112;
export const noPointsEndTextLength = 2;

/** What stands before the value of a point, by its place in the series: the text, and from these on its month and length. */
export const firstPlace = 128;
export const placeBytes = 64;
export const placeMonthAt = 56;
export const placeLengthAt = 60;

/** What `write` says: all is written; the text of a month is wanted; there may be no room for the next driver; that one would end behind the section. */
export const done = 0;
export const wantsText = 1;
export const isFull = 2;
export const isBroken = 3;
