import { type Pattern, parsePattern } from '../../src/core/mapping/pattern.ts';
import { type Template, parseTemplate } from '../../src/core/mapping/template.ts';

/** A template that is well written. */
export function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (!('template' in parsed)) throw new Error(parsed.problem);
  return parsed.template;
}

/** A regular expression of the config that is well written. */
export function pattern(source: string, flags?: 'i'): Pattern {
  const parsed = parsePattern(source, flags);
  if ('problem' in parsed) throw new Error(`${source}: ${parsed.problem}`);
  return parsed;
}
