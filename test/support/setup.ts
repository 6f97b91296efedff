/** Runs before every test file: `npm test` draws the same inputs each time, so it finds today what it found yesterday. */
import fc from 'fast-check';
import { propertySeed } from './seeds.ts';

fc.configureGlobal({ seed: propertySeed });
