/** Root may read and write everything, so tests about permissions work as a user who is not root. */

/** The user `nobody`. */
export const anybody = 65_534;

/** Works as that user where the tests run as root, and as their own user elsewhere. */
export async function asAnybody<T>(work: () => T | Promise<T>): Promise<T> {
  if (process.getuid?.() !== 0) return await work();
  process.seteuid!(anybody);
  try {
    return await work();
  } finally {
    process.seteuid!(0);
  }
}
