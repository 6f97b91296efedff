/** Claims of the lead as tests make them. */
import type { Claim } from '../../src/core/election/rows.ts';

export function by(holder: string, of: Partial<Claim> = {}): Claim {
  const mine = { holder, host: 'finance-1', pid: 1, config: 'c', address: 'https://drivers.example.com' };
  const none = { seen: undefined, isCopying: undefined, overdue: undefined };
  return { ...mine, ...none, leaseMs: 60_000, seenTerm: 0, version: 1, ...of };
}
