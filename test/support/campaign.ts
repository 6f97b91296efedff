/** `npm run campaigns` takes the long way where `npm test` takes a sample: it is set there. */
export const isCampaign = process.env['CAMPAIGN'] !== undefined;

/** `CAMPAIGN=all` leaves nothing out, and takes as long as it takes. */
export const isExhaustive = process.env['CAMPAIGN'] === 'all';
