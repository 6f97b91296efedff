/** The ledger of a plan. */
import type { Ledger } from '../../core/stores.ts';

/** What a plan may write to the ledger: the digests of held candidates, and nothing else. */
export function holdingOnly(ledger: Ledger): Ledger {
  const facts = new Map<string, unknown>();
  const nothing = (): void => undefined;
  const mute = { release: nothing, closeApproval: nothing, recordDeletes: nothing, finishRequest: nothing };
  const factual: Pick<Ledger, 'fact' | 'setFact'> = {
    fact: <T>(key: string) => (facts.has(key) ? facts.get(key) : ledger.fact(key)) as T | undefined,
    setFact: (key, value) => void facts.set(key, value),
  };
  const own: Partial<Ledger> = { ...mute, ...factual };
  return new Proxy(ledger, {
    get(target, key: keyof Ledger) {
      const member = own[key] ?? target[key];
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}
