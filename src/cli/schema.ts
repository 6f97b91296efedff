import { editorSchema } from '../config/json-schema.ts';
import { printJson } from './output.ts';

/** The config's JSON Schema. */
export function schema(): number {
  printJson(editorSchema(), 2);
  return 0;
}
