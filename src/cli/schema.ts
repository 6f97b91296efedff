import { jsonSchema } from '../config/json-schema.ts';
import { printJson } from './output.ts';

/** The config's JSON Schema. */
export function schema(): number {
  printJson(jsonSchema(), 2);
  return 0;
}
