/** Copies a file, byte by byte: what no reader of it can be faster than by much. */
import { execFileSync } from 'node:child_process';

const [file = '', to = ''] = process.argv.slice(2);
execFileSync('cp', ['--reflink=never', file, to]);
