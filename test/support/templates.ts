import { type Template, parseTemplate } from '../../src/core/mapping/template.ts';

/** A template that is well written. */
export function template(text: string): Template {
  const parsed = parseTemplate(text);
  if (!('template' in parsed)) throw new Error(parsed.problem);
  return parsed.template;
}
