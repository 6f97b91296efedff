/** The shape of fixtures. The package exports its type, so nothing here may name a type of better-sqlite3. */
import { z } from 'zod';
import { driverSchema } from '../contract/driver-push.ts';
import { faultScriptSchema } from '../contract/fault-script.ts';
import { routerCreateSchema, strictRouterCreateSchema } from '../contract/routing-resources.ts';
import { clockSchema } from './clock-schema.ts';

const fixturesSchema = z.strictObject({
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

const strictFixturesSchema = fixturesSchema.extend({ routers: z.array(strictRouterCreateSchema).default([]) });

export type Fixtures = z.input<typeof fixturesSchema> | z.input<typeof strictFixturesSchema>;

/** @param manner whether routers are what the live service takes. @throws ZodError */
export function parseFixtures(given: unknown, { strict }: { readonly strict: boolean }) {
  return (strict ? strictFixturesSchema : fixturesSchema).parse(given);
}
