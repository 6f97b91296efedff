/** The keys of `ledger:`. */
import { z } from 'zod';
import { addressKeys } from '../sources/databases/address.ts';
import { positiveDuration } from './scalars.ts';

const keys = addressKeys({ schemes: ['postgres', 'postgresql'], port: 5432, hasManyHosts: true });

export const ledgerShape = {
  url: keys.url,
  caFile: keys.caFile,
  schema: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'expected small letters, digits and "_", beginning with a letter')
    .default('driver_sync')
    .describe('The schema of the database that holds the tables. It is made where it is missing.'),
  takeOver: positiveDuration
    .prefault('20s')
    .describe(
      'Another agent takes over when the one that leads was not heard of for this long. An agent that is stopped hands over at once.',
    ),
};
