/** Writes the reference part of docs/CONFIG.md anew: `node test/support/update-config-reference.ts`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { renderReference } from './config-reference.ts';

const file = new URL('../../docs/CONFIG.md', import.meta.url);
const reference = `<!-- reference -->\n\n${renderReference()}\n\n<!-- /reference -->`;
// A function, since "$" means something in a text of `replace`.
writeFileSync(
  file,
  readFileSync(file, 'utf8').replace(/<!-- reference -->[^]*<!-- \/reference -->/, () => reference),
);
