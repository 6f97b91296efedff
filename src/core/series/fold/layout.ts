/**
 * Where things are in the memory of a fold: read by the agent (TypeScript) and compiled into the kernel (AssemblyScript), so only numbers.
 * Places are byte offsets; what stands there is an integer of 32 bits, or where that is said a double.
 */

/** Instead of a number: there is none. */
export const none = -1;

/** What a fold works on: where its tables are, and how many cells there are. */
export const cellsAt = 0;
export const cellCountAt = 4;
export const cellSlotsAt = 8;
export const cellSlotMaskAt = 12;
export const driversAt = 16;
export const byNameAt = 20;
/** 0 where no cell has passed a reading. */
export const passedAt = 24;
/** Times by their numbers. */
export const monthsAt = 28;
export const secondsAt = 32;
export const nanosAt = 36;
/** The columns of the readings that are taken. */
export const namedAt = 40;
export const timedAt = 44;
export const mantissasAt = 48;
export const scalesAt = 52;
export const spelledAt = 56;
export const rowsAt = 60;
export const entriesAt = 64;
/** 0 where no cell has the best reading behind a cut of the ties beside the one that it has taken before. */
export const bestAt = 68;
/** A double: only readings behind this row are compared for ties. */
export const tiesFromAt = 72;
/** What was packed last: where its points and its origins end. */
export const pointsEndAt = 80;
export const originsEndAt = 84;
/** Texts of cells by their places. */
export const textsAt = 88;
/** Marks by their numbers, two bytes each: the decimal mark and the group mark. */
export const marksAt = 92;
export const foldBytes = 96;

/** A text is its length and then its characters, of Latin-1; or the length says that it is beside. */
export const textBytes = 32;
export const textIsBeside = 255;

/** The kernel packs drivers of so many cells. */
export const packedCellsMax = 1024;
/** What a cell takes at most, and what stands before the first one. */
export const packedPointBytes = 40;
export const packedOriginBytes = 72;
export const packedHeadBytes = 64;

/**
 * A cell is a record of 64 bytes, as long as what a processor reads of its memory at once: where rows name drivers in no order, each cell
 * is one look at memory, and would be ten as a row of ten columns.
 */
export const cellBytes = 64;
/** Doubles: the place of the reading that it has; how many readings were folded into it. */
export const cellSecondsAt = 0;
export const cellRowAt = 8;
export const cellReadingsAt = 16;
/** A double: the value as an integer, see `core/numbers/mantissa.ts`; for an average its sum. Where that does not fit: its place among the texts. */
export const cellMantissaAt = 24;
/** A double: the text of the latest reading that was added, or of the one that it has, as an integer; or its place among the texts. */
export const cellAddedMantissaAt = 32;
export const cellNanosAt = 40;
export const cellMonthAt = 44;
export const cellDriverAt = 48;
/** The next cell of its driver. */
export const cellNextAt = 52;
/** How many digits of the value are decimals; -1: the value is a text. */
export const cellScaleAt = 56;
/** The scale of the latest reading that was added, and behind `spellingShift` how it is written; or `textIsElsewhere` or `textIsValue`. */
export const cellAddedScaleAt = 60;
export const spellingShift = 8;
export const scaleMask = 255;
/** Instead of a scale: the text as read is one of the texts, and neither the value itself nor such an integer. */
export const textIsElsewhere = -1;
/** Instead of a scale: the text as read is the value. */
export const textIsValue = -2;

export const driverBytes = 48;
/** Doubles: the place of its latest reading. */
export const driverSecondsAt = 0;
export const driverRowAt = 8;
export const driverNanosAt = 16;
/** The entry that made the latest reading. */
export const driverEntryAt = 20;
/** The number that readings name it by as it is called now, or -1. */
export const driverNamedAt = 24;
/** The cell of its newest reading, or -1: rows of one driver and month tend to follow each other. */
export const driverCellAt = 28;
/** Its newest cell, where the list of its cells begins. */
export const driverNewestAt = 32;
export const driverRuleAt = 36;

/** Rules by number; from `sum` on every reading counts, and not only the one that is chosen. */
export const last = 0;
export const first = 1;
export const min = 2;
export const max = 3;
export const sum = 4;
export const average = 5;
export const count = 6;

/**
 * By cell, a reading that is not the one that it has: its newest, row 0 where it has that one; or the best behind a cut of the ties, which
 * means nothing where the cell has a reading from there.
 */
export const passedBytes = 32;
/** Doubles. */
export const passedSecondsAt = 0;
export const passedRowAt = 8;
export const passedMantissaAt = 16;
export const passedNanosAt = 24;
export const passedScaleAt = 28;
