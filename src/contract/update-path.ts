/** Where the driver push is sent, appended to the destination's URL. Only POST. Without a schema beside it: the agent checks none, and a start would make them. */
export const updatePath = '/api/extDrivers/update';
