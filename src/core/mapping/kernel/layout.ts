/**
 * Where things are in the memory of a mapping: read by the agent (TypeScript) and compiled into the kernel (AssemblyScript), so only
 * numbers. Places are byte offsets; what stands there is an integer of 32 bits.
 */

/** Instead of a number: there is none yet. */
export const none = -1;

/** Combinations of codes: how many columns, how many combinations. */
export const widthAt = 0;
export const countAt = 4;
/** The codes of each combination, and the combination that followed it last time. */
export const keysAt = 8;
export const nextAt = 12;
/** Combinations by hash; open addressing, at most half full. */
export const slotsAt = 16;
export const slotMaskAt = 20;
/** The combination of the row before. */
export const lastAt = 24;
/** Where the addresses of the columns stand. */
export const columnsAt = 28;
export const tuplesBytes = 32;

/** What an entry reads in a row or in one of its long rows: numbers of names and times by row, and values by row. */
export const unitBytes = 32;
export const namesAt = 0;
export const timesAt = 4;
export const mantissasAt = 8;
export const scalesAt = 12;
/** A canonical decimal of at most so many decimals is its own value. */
export const scaleMaxAt = 16;
export const entryAt = 20;
/** How numbers are written, by row; 0: as their value. */
export const unitSpelledAt = 24;
/** What is set in the spelling of each number, whose sign is turned then; 0: none is. */
export const negatedAt = 28;

/** Readings: how many, and for how many there is room. */
export const readAt = 0;
export const roomAt = 4;
/** Their columns. */
export const namedAt = 8;
export const timedAt = 12;
export const readMantissasAt = 16;
export const readScalesAt = 20;
export const spelledAt = 24;
export const rowsAt = 28;
export const entriesAt = 32;
export const readingsBytes = 36;
