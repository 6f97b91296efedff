/**
 * Whether a shared ledger may have lost records, as pure functions. A database that was promoted, restored or exchanged cannot say
 * what it has lost: the agents remember what they saw. One loss is asked about once, whoever of them notices it.
 */

/** The doubt that was raised last, also once a person has settled it. */
export interface RaisedDoubt {
  readonly sinceMs: number;
  /** Of the agent that raised it when it began to lead. Both together are those of no other doubt. */
  readonly term: number;
  readonly holder: string;
}

/** What an agent has seen of its ledger. */
export interface Seen {
  /** Where it led last: system identifier and timeline. The first is '' where the user may not read it. */
  readonly cluster?: string | undefined;
  readonly term: number;
  /** The newest record of the chain, as `N:SHA256`. */
  readonly head?: string | undefined;
  readonly beside?: Beside | undefined;
  /** A record that was there and is not any more, as `N:SHA256`, until a term of this agent began with that. */
  readonly lost?: string | undefined;
  /** What stood beside the newest record that was lost, or beside a term that was. */
  readonly lostBeside?: Beside | undefined;
}

/** What the ledger said beside its newest record. */
export interface Beside {
  /** When the record was first seen in this term, by the clock of the database. */
  readonly sinceMs: number;
  readonly term: number;
  readonly holder: string | undefined;
  /** Where the agent of that term leads. */
  readonly cluster: string;
  readonly lastDoubt: RaisedDoubt | undefined;
}

/** What the ledger says when an agent begins to lead. */
export interface Found {
  readonly term: number;
  /** Where the agent before led; `undefined`: nobody did. */
  readonly before: string | undefined;
  /** Where it is now. */
  readonly cluster: string;
  readonly lastDoubt: RaisedDoubt | undefined;
}

/** Evidence that rows were lost: a promotion, another cluster, or a record that this agent saw and that is not there. */
export function doubtOf(
  { seen, seenTerm }: { readonly seen: Seen | undefined; readonly seenTerm: number },
  found: Found,
): string | undefined {
  const { cluster } = found;
  const { cluster: own = cluster, lost, beside } = seen ?? {};
  // The address may have led elsewhere since the last look.
  const lostBeside = found.term < (beside?.term ?? 0) ? beside : seen?.lostBeside;
  const before = found.before ?? cluster;
  // Whoever led on another timeline has raised this doubt already; in another cluster nobody could.
  const known = before === cluster && isElsewhere(own, cluster) ? own : before;
  if (isElsewhere(known, cluster))
    return `the ledger is in another database cluster than before (${systemIn(cluster)}, and it was ${systemIn(known)})`;
  if (timelineIn(known) !== timelineIn(cluster))
    return `the database of the ledger was promoted (timeline ${timelineIn(known)} became ${timelineIn(cluster)}), and may have lost the last pushes`;
  // A term that it won, and did not look at any more, stood beside nothing.
  const isKnown = lostBeside !== undefined && (found.term >= seenTerm || lostBeside.term >= seenTerm);
  if (isKnown && isRaisedSince(lostBeside, found)) return undefined;
  if (lost !== undefined)
    return `the ledger has lost records: record ${lost.split(':')[0]} was there, and is not any more`;
  return found.term < seenTerm
    ? `the ledger has lost records: term ${seenTerm} was there, and it says ${found.term}`
    : undefined;
}

/**
 * Whether what was lost was gone already when the ledger's last doubt was raised: then that doubt still waits for a person, or one
 * has settled it, knowing what the service has. Nobody could have seen it beside the record. Where the ledger was another one's
 * then, or nobody can tell, this says nothing.
 */
function isRaisedSince(beside: Beside, { cluster, lastDoubt }: Found): boolean {
  const system = systemIn(cluster);
  if (lastDoubt === undefined || system === '' || systemIn(beside.cluster) !== system) return false;
  const { term, holder } = beside.lastDoubt ?? { term: -1, holder: '' };
  const wasThere = lastDoubt.term < term || (lastDoubt.term === term && lastDoubt.holder === holder);
  // An agent that was cut off together with a primary of old may have led there, and seen records, long after that doubt.
  return !wasThere && beside.sinceMs <= lastDoubt.sinceMs;
}

/** Whether an agent has seen since its term began that something is gone. */
export function sawLoss(seen: Seen | undefined): boolean {
  return seen?.lost !== undefined || seen?.lostBeside !== undefined;
}

/** Where the user may not read the identifier of a system, only the records can tell. */
function isElsewhere(one: string, other: string): boolean {
  const [a, b] = [systemIn(one), systemIn(other)];
  return a !== '' && b !== '' && a !== b;
}

function systemIn(cluster: string): string {
  return cluster.split('/')[0] ?? '';
}

export function timelineIn(cluster: string): string {
  return cluster.split('/')[1] ?? '';
}
