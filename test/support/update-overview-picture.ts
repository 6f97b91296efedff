/** Writes docs/overview.svg: node test/support/update-overview-picture.ts */
import { writeFileSync } from 'node:fs';
import { overviewPicture } from './overview-picture.ts';

writeFileSync(new URL('../../docs/overview.svg', import.meta.url), overviewPicture());
