import { jsonSchema } from '../config/schema.ts';
import { print } from './context.ts';

/** The config's JSON Schema. */
export function schema(): number {
  print(JSON.stringify(jsonSchema(), null, 2));
  return 0;
}
