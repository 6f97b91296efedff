/** Leaving a server: it is told, and has a short time to answer. */

/** How long a server may take to close a connection or to end a query, in ms. */
const farewellMaxMs = 2_000;

/** Waits for the answer of a server that was told to end something, but not for long: a dead one never answers. */
export async function farewell(goodbye: Promise<unknown>): Promise<void> {
  const waited = Promise.withResolvers<void>();
  const timer = setTimeout(waited.resolve, farewellMaxMs);
  try {
    await Promise.race([goodbye, waited.promise]);
  } finally {
    clearTimeout(timer);
  }
}
