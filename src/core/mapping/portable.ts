/** A mapping on its way into another thread: patterns are programs and stay behind; their texts go. */
import type { Condition, Mapping, Test, Unpivot } from '../settings.ts';
import { type Pattern, parsePattern } from './pattern.ts';

interface PortablePattern {
  readonly source: string;
}

type PortableTest =
  | Extract<Test, { kind: 'oneOf' }>
  | { readonly kind: 'matches'; readonly pattern: PortablePattern }
  | { readonly kind: 'not'; readonly test: PortableTest };

/** Can be cloned. */
export interface PortableMapping extends Omit<Mapping, 'where' | 'unpivot'> {
  readonly where: readonly (Omit<Condition, 'test'> & { readonly test: PortableTest })[];
  readonly unpivot: (Omit<Unpivot, 'columns'> & { readonly columns: PortablePattern }) | undefined;
}

export function packMapping(mapping: Mapping): PortableMapping {
  const { unpivot } = mapping;
  return {
    ...mapping,
    where: mapping.where.map(({ column, test }) => ({ column, test: packTest(test) })),
    unpivot: unpivot && { ...unpivot, columns: { source: unpivot.columns.source } },
  };
}

export function unpackMapping(packed: PortableMapping): Mapping {
  const { unpivot } = packed;
  return {
    ...packed,
    where: packed.where.map(({ column, test }) => ({ column, test: unpackTest(test) })),
    unpivot: unpivot && { ...unpivot, columns: patternOf(unpivot.columns) },
  };
}

function packTest(test: Test): PortableTest {
  switch (test.kind) {
    case 'oneOf':
      return test;
    case 'matches':
      return { kind: 'matches', pattern: { source: test.pattern.source } };
    case 'not':
      return { kind: 'not', test: packTest(test.test) };
  }
}

function unpackTest(test: PortableTest): Test {
  switch (test.kind) {
    case 'oneOf':
      return test;
    case 'matches':
      return { kind: 'matches', pattern: patternOf(test.pattern) };
    case 'not':
      return { kind: 'not', test: unpackTest(test.test) };
  }
}

function patternOf({ source }: PortablePattern): Pattern {
  const parsed = parsePattern(source);
  if ('problem' in parsed) throw new Error(`a pattern that was parsed before: ${parsed.problem}`);
  return parsed;
}
