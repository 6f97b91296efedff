/** Names with control characters, as bytes of another encoding become where a config declares the wrong one. */
import { controlIn } from '../../core/one-byte.ts';
import type { SourceSettings } from '../../core/settings.ts';
import { quote } from '../../core/text.ts';

export class ForeignNames {
  #example: string | undefined;

  note(names: readonly string[]): void {
    this.#example ??= names.find((name) => controlIn(name) !== undefined);
  }

  warnings({ kind }: Pick<SourceSettings, 'kind'>): readonly string[] {
    const name = this.#example;
    if (name === undefined) return [];
    const code = controlIn(name)?.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
    const declared = typeof kind === 'object' && kind !== null && 'encoding' in kind ? kind.encoding : undefined;
    const isOneByte = typeof declared === 'string' && !/^utf-?(8|16)/i.test(declared);
    const meant = isOneByte
      ? `the file is probably not ${declared}; declare encoding: cp850 if it comes from a DOS program`
      : 'it was probably read in another encoding than it was written in, before it came into this source';
    return [`the name ${quote(name)} has the control character U+${code}: ${meant}`];
  }
}
