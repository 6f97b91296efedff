/** `npm run campaigns` takes the long way where `npm test` takes a sample: it is set there. */
export const isCampaign = process.env['CAMPAIGN'] !== undefined;
