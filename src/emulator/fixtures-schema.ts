/** The shape of fixtures. The package exports its type, so nothing here may name a type of better-sqlite3. */
import { z } from 'zod';
import { driverSchema } from '../contract/driver-push.ts';
import { faultScriptSchema } from '../contract/fault-script.ts';
import { routerCreateSchema } from '../contract/routing-resources.ts';
import { clockSchema } from './clock-schema.ts';

export const fixturesSchema = z.strictObject({
  ...clockSchema.shape,
  /** As `GET /_emulator/drivers` shows them. */
  drivers: z.array(driverSchema).default([]),
  /** As `POST /v1/routers` takes them. */
  routers: z.array(routerCreateSchema).default([]),
  credits: z.int().nonnegative().optional(),
  /** A whole catalog, or changes of the present one. */
  catalog: z.unknown().optional(),
  faults: faultScriptSchema.optional(),
});
export type Fixtures = z.input<typeof fixturesSchema>;
