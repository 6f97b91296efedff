/** Runs before every test file. */
import fc from 'fast-check';
import { afterEach, vi } from 'vitest';
import { propertySeed } from './seeds.ts';

// `npm test` draws the same inputs each time, so it finds today what it found yesterday.
fc.configureGlobal({ seed: propertySeed });

// Many files share a process: what a test says of its environment ends with it.
afterEach(() => void vi.unstubAllEnvs());
