/** How the agent leaves a server: politely, and soon where it does not answer. */

/** How long a server may take to say goodbye or to end a query, in ms. */
const farewellMaxMs = 2_000;

/** Waits for what a server answers when it is told to end something, but not for long: one that died answers nothing. */
export async function farewell(goodbye: Promise<unknown>): Promise<void> {
  const waited = Promise.withResolvers<void>();
  const timer = setTimeout(waited.resolve, farewellMaxMs);
  try {
    await Promise.race([goodbye, waited.promise]);
  } finally {
    clearTimeout(timer);
  }
}
