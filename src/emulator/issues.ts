/** Problems of a request, each with its place. */
import type { z } from 'zod';

export interface Issue {
  /** Such as `extDrivers[3].timeSeries[0].value`; empty for the body as a whole. */
  readonly path: string;
  readonly message: string;
}

/** How many are reported. The twenty-first would teach the sender nothing new. */
export const issuesMax = 20;

/** A key can be as long as the body. */
const keyCharactersMax = 100;

export class Issues {
  readonly #list: Issue[] = [];

  get list(): readonly Issue[] {
    return this.#list;
  }

  /** Further issues are not kept, so a caller may stop looking for them. */
  get isFull(): boolean {
    return this.#list.length >= issuesMax;
  }

  add(path: readonly PropertyKey[], message: string): void {
    if (!this.isFull) this.#list.push({ path: textOfPath(path), message });
  }

  /** Adds the issues of zod, an unknown key at its own path. */
  addAll(place: readonly PropertyKey[], issues: readonly z.core.$ZodIssue[]): void {
    for (const issue of issues) {
      const path = [...place, ...issue.path];
      if (issue.code !== 'unrecognized_keys') this.add(path, issue.message);
      else for (const key of issue.keys.slice(0, issuesMax)) this.add([...path, key], 'is not a known key');
    }
  }
}

export function textOfPath(path: readonly PropertyKey[]): string {
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`;
    else {
      const name = String(key).slice(0, keyCharactersMax);
      if (!/^[A-Za-z_$][\w$]*$/.test(name)) text += `[${JSON.stringify(name)}]`;
      else text += text === '' ? name : `.${name}`;
    }
  }
  return text;
}
