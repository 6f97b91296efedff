/** How a number is written, as bits of an integer: read by the agent (TypeScript) and compiled into kernels (AssemblyScript), so only numbers. */

/** The text is the value itself. */
export const canonical = 0;
/** The text is none that these bits can say. */
export const elsewhere = 1;
/** Set in all others. */
export const written = 2;
export const hasGroups = 4;
/** Of a number below zero, instead of a minus before it. */
export const inBrackets = 8;
export const minusBehind = 16;
/** The text is of the number with the other sign. */
export const negated = 32;
/** A space stands before the currency sign. */
export const hasSpace = 64;
/** From here on the number of the currency sign: 0 where there is none. */
export const currencyShift = 7;
export const currencyMask = 3;
/** From here on the number of the marks. */
export const marksShift = 9;
