/** A time and its speed, as a request or fixtures set them. */
import { z } from 'zod';
import { lastMs, speedMax } from './routing/clock.ts';

export const clockSchema = z.strictObject({
  now: z.iso
    .datetime({ offset: true })
    .refine((now) => Date.parse(now) >= 0 && Date.parse(now) <= lastMs, 'must be from 1970 to 9998')
    .optional(),
  speed: z.number().min(0).max(speedMax).optional(),
});
