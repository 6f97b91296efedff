import { jsonSchema } from '../config/schema.ts';
import { print } from './output.ts';

/** The config's JSON Schema. */
export function schema(): number {
  print(JSON.stringify(jsonSchema(), null, 2));
  return 0;
}
