/** Writes man/driver-sync.1: node test/support/update-man-page.ts */
import { mkdirSync, writeFileSync } from 'node:fs';
import { commandSpecs } from '../../src/cli/program.ts';
import { manPage } from './man-page.ts';

mkdirSync(new URL('../../man', import.meta.url), { recursive: true });
writeFileSync(new URL('../../man/driver-sync.1', import.meta.url), manPage(commandSpecs()));
