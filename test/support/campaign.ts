/** `npm run campaigns` takes the longer way where `npm test` takes a sample: it is set there. */
export const isCampaign = process.env['CAMPAIGN'] !== undefined;

/** `CAMPAIGN=all npm test -- FILE` leaves nothing out, and takes as long as it takes: an hour for some files. */
export const isExhaustive = process.env['CAMPAIGN'] === 'all';

/** How often a property is asked: a sample in `npm test`, and as often as it takes to be sure in a campaign. */
export const runsOf = (sample: number, campaign: number): { readonly numRuns: number } => ({
  numRuns: isCampaign ? campaign : sample,
});

/** How many times as many questions a property asks as in a sample. */
export const timesAsMany = isExhaustive ? 30 : isCampaign ? 9 : 1;
