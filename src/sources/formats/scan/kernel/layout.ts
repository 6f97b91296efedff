/**
 * Where things are in the kernel's memory: read by the agent (TypeScript) and compiled into the kernel (AssemblyScript), so only numbers.
 * Places are byte offsets; what stands there is an integer of 32 bits.
 */

/** What a scan works on. Addresses are of the kernel's memory. */
export const blockAt = 0;
/** Where the next row begins; after a scan, where it ended. */
export const rowAt = 4;
/** No row is read that begins here or later. */
export const stopAt = 8;
/** Where the sentinels stand. */
export const endAt = 12;
/** A field that ends here or later is not complete. */
export const limitAt = 16;
export const isLastAt = 20;
/** Rows of the batch so far, and how many it may have. */
export const rowsAt = 24;
export const rowsMaxAt = 28;
/** How many columns there are, and where they are described. */
export const widthAt = 32;
export const columnsAt = 36;
/** Where the rows begin, from the start of the block. */
export const rowStartsAt = 40;
/** Pairs of a row and its number of fields, and how many such rows there are. */
export const raggedAt = 44;
export const raggedRowsAt = 48;
/** Lines without a row; of JSON lines, all that ended between records. */
export const linesSkippedAt = 52;
/** Whether a quoted field with a line break was seen. */
export const hasBreaksAt = 56;
export const delimiterAt = 60;
/** The first byte of a comment, or a line feed where there are none. */
export const commentAt = 64;
export const isOneColumnAt = 68;
/** Of a row that is left to the caller: where its line ends. */
export const rowEndAt = 72;
/** The column whose texts need more room, and how many bytes. */
export const fullColumnAt = 76;
export const fullBytesAt = 80;
/** A row that begins as a comment does, and is none. */
export const noCommentAt = 84;

/** Of JSON records: whether they are a list, or lines. */
export const isListAt = 88;
/** What may come next between records: see `nextIsList` and the others. */
export const nextRecordAt = 92;
/** The record that is being read, or 0; the number of it. */
export const recordAt = 96;
export const recordsSeenAt = 100;
/** Where it goes on: at a value, its place in the record, and its column, or that the column is still to be found. */
export const valueAt = 104;
export const placeAt = 108;
export const valueColumnAt = 112;
/** By place in a record, what stands between the value and the one before it; how many are known. */
export const leadsAt = 116;
export const leadsCountAt = 120;
/** By column, the number of the last record that has it. */
export const seenInAt = 124;
/** Where a value stopped being plain. At the end of a block, what follows may make it plain. */
export const reachedAt = 128;
/** 256 bytes: what a byte means outside quotes. */
export const classesAt = 144;
/** For each number of digits before the point and behind it, 16 bytes: which byte of a field is which digit. */
export const digitsAt = 400;
export const contextBytes = 400 + 16 * 16 * 16;

/** A column. */
export const columnBytes = 80;
export const needsAt = 0;
export const needsCodes = 1;
export const needsValues = 2;
/** A value in quotes is a text, and none that is read as a decimal. */
export const needsKinds = 4;
export const codesAt = 4;
export const mantissasAt = 8;
export const scalesAt = 12;
/** Where fields begin whose scale is -1; -1 where the row has no such field. */
export const placesAt = 16;
/** The texts, one behind the other: where, how many bytes are used, and how many there is room for. */
export const textsAt = 20;
export const textsUsedAt = 24;
export const textsRoomAt = 28;
/** For each text a record, and a hash; how many there are, and how many there is room for. */
export const recordsAt = 32;
export const hashesAt = 36;
export const countAt = 40;
export const roomAt = 44;
/** Numbers plus one, by hash; open addressing. */
export const slotsAt = 48;
export const slotMaskAt = 52;
/** The number of the text of the row before. */
export const lastAt = 56;
/** How values are written, if another way than canonical is read: bytes of the decimal mark, the group mark (0: none) and whether it is accounting. */
export const marksAt = 60;
/** What is set in the spelling of each such value, and where the spellings are. */
export const spellingAt = 64;
export const spelledAt = 68;
/** Where the currency signs are, by number from 0, which is none: their lengths, and their bytes in the encoding. */
export const currenciesAt = 72;
export const currencyBytes = 8;
export const currencySigns = 3;

/** A text: where it is, how long it is, the number of the text that followed it last time, and flags. */
export const recordBytes = 16;
export const textAt = 0;
export const lengthAt = 4;
export const nextAt = 8;
export const flagsAt = 12;

/** A text that can stand in a file only within quotes. */
export const needsQuotes = 1;
/** It holds a quote, which the file has twice. */
export const holdsQuote = 2;
export const holdsLineBreak = 4;

/** What a byte means outside quotes. */
export const plainByte = 0;
/** A delimiter or a line end. */
export const endOfField = 1;
/** A quote: the field is not plain. */
export const strayQuote = 2;

/** Why a scan ended. */
export const done = 0;
/** The rows are not plain. */
export const notPlain = 1;
/** A column's texts need more room; the row is read again then. */
export const full = 2;
/** The line may be a comment. */
export const maybeComment = 3;
/** The row has one field, which may be white space alone. */
export const oneField = 4;
/** A record is not plain, or is cut by the end of the block. */
export const maybeCut = 5;
/** What stands before the next value is not what stood there in the record before. */
export const strangeLead = 6;

/** A column that is still to be found; no column, behind the last value of a record. */
export const hasMoreColumns = -2;
export const noColumn = -1;

/** What may come next between records. */
export const nextIsList = 0;
export const nextIsFirst = 1;
export const nextIsRecord = 2;
export const nextIsMore = 3;
export const nextIsNothing = 4;

/** What stands between two values: where, how long, and the column of the value behind it. */
export const leadBytes = 16;
export const leadTextAt = 0;
export const leadLengthAt = 4;
export const leadColumnAt = 8;
