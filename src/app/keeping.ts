/** Which snapshots of the archive are kept (DESIGN, `keep` and `keepMax`). */
import type { World } from './world.ts';

const dayMs = 86_400_000;

/**
 * Of acknowledged pushes: all of 7 days, then the last of each UTC day for `keep`, newest first up to `keepMax`, and
 * always the last one of each address. Also the snapshot that was built last: a push of it may be under way.
 */
export function keptDigests(world: World): ReadonlySet<string> {
  const { ledger, archive, buffer, settings, clock } = world;
  const nowMs = clock.now().getTime();
  const kept = new Set<string>();
  const addresses = new Set<string>();
  const days = new Set<string>();
  let bytes = 0;
  for (const { outcome, address, digest, atMs } of ledger.pushes()) {
    if (outcome !== 'acknowledged') continue;
    const ageMs = nowMs - atMs;
    const day = `${address} ${Math.floor(atMs / dayMs)}`;
    const isLast = !addresses.has(address);
    const isWanted = ageMs <= 7 * dayMs || (ageMs <= settings.keepMs && !days.has(day));
    addresses.add(address);
    days.add(day);
    if (!isLast && !isWanted) continue;
    if (kept.has(digest)) continue;
    bytes += archive.storedBytes(digest);
    if (isLast || bytes <= settings.keepMaxBytes) kept.add(digest);
  }
  const built = JSON.parse(buffer.fact('built') ?? '[]') as [string?, string?];
  if (built[1] !== undefined) kept.add(built[1]);
  return kept;
}
