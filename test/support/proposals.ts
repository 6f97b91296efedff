/** Proposals for texts, as `init --from` makes them for files. */
import { parse } from 'yaml';
import { type Proposal, propose } from '../../src/propose/propose.ts';

export interface ProposedSource {
  readonly type: string;
  readonly files: readonly string[];
  readonly drivers: readonly {
    readonly id?: string;
    readonly path: readonly string[];
    readonly time: unknown;
    readonly value: unknown;
    readonly spread?: string;
    readonly collapse?: string;
  }[];
  readonly [key: string]: unknown;
}

export interface Proposed extends Proposal {
  readonly config: { readonly destination: string; readonly sources: Readonly<Record<string, ProposedSource>> };
  /** The first source. */
  readonly source: ProposedSource;
}

/** @param files by their names; texts are UTF-8 @param others names beside them */
export function proposed(files: Readonly<Record<string, string | Buffer>>, others: readonly string[] = []): Proposed {
  const samples = Object.entries(files).map(([name, content]) => ({
    form: 'text' as const,
    name,
    pieces: [Buffer.from(content)],
    isWhole: true,
  }));
  const proposal = propose(samples, () => [...Object.keys(files), ...others]);
  const config = parse(proposal.text ?? '{}') as Proposed['config'];
  const [source] = Object.values(config.sources ?? {});
  return { ...proposal, config, source: source as ProposedSource };
}

/** Lines, each ended. */
export function lines(...texts: readonly string[]): string {
  return `${texts.join('\n')}\n`;
}
