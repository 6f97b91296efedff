/** Places in a config file for what turned out later to be wrong with it, such as a column that no part has. */
import { readFileSync } from 'node:fs';
import { readDocument } from './document.ts';
import type { Finding } from './finding.ts';
import { type Problem, locateProblems } from './problems.ts';

export function locate(file: string, findings: readonly Finding[]): Problem[] {
  if (findings.length === 0) return [];
  return locateProblems(
    file,
    readDocument(readFileSync(file, 'utf8'), { env: process.env, secrets: 'optional' }),
    findings,
  );
}
