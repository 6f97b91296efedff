/** `npm run campaigns` takes the longer way where `npm test` takes a sample: it is set there. */
export const isCampaign = process.env['CAMPAIGN'] !== undefined;

/** `CAMPAIGN=all npm test -- FILE` leaves nothing out, and takes as long as it takes: an hour for some files. */
export const isExhaustive = process.env['CAMPAIGN'] === 'all';

/** How many times as many questions a property asks as in a sample. */
export const timesAsMany = isExhaustive ? 30 : isCampaign ? 9 : 1;
