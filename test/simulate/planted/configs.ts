/** The configs that bugs are planted in. */

const destination = { url: 'https://plan.test', timeout: '30s' };
const drivers = [{ id: '{id}', path: ['{id}'], time: '{time}', value: '{value}' }];

/** Two plain sources, of which one is a database. */
export const twoSources = {
  destination,
  pushOnChange: '1m',
  sources: {
    sales: {
      type: 'csv',
      files: ['sales/*.csv'],
      drivers: [{ ...drivers[0], id: 'sales/{id}', path: ['Sales', '{id}'] }],
    },
    costs: {
      type: 'csv',
      files: ['costs/*.csv'],
      drivers: [{ ...drivers[0], id: 'costs/{id}', path: ['Costs', '{id}'] }],
    },
  },
};

const sharing = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { type: 'csv', files: [`${name}/*.csv`], drivers }]));

/** Sources that may have the same drivers, which move between them. */
export const movingDrivers = {
  destination,
  pushOnChange: '1m',
  guard: { maxDeletes: '60%' },
  sources: sharing(['north', 'south', 'west']),
};

/** The same of two. */
export const movingBetween = { ...movingDrivers, sources: sharing(['a', 'b']) };

/** The same where the service keeps what a snapshot leaves out. */
export const nothingDeleted = { ...movingDrivers, destination: { ...destination, shouldDeleteMissing: false } };

/** The same of sources with other names, and so with other histories: what a driver comes back with is rarely a slip. */
export const comingBack = { ...nothingDeleted, sources: sharing(['a', 'b', 'c']) };

/** Two sources, of which nothing may go unapproved, and nothing is deleted at the service. */
export const leavingBehind = {
  ...twoSources,
  destination: { ...destination, shouldDeleteMissing: false },
  guard: { maxDeletes: 0 },
};

/** Bookings that add up, in European and in bookkeepers' numbers. */
export const shapedConfig = {
  destination,
  pushOnChange: '1m',
  sources: {
    bookings: {
      type: 'csv',
      files: ['bookings/*.csv'],
      drivers: [
        {
          id: '{account}',
          path: ['{account}'],
          time: { from: '{day}', format: 'dd.MM.yyyy' },
          value: { from: '{amount}', decimal: ',', group: '.', accounting: true },
          collapse: 'sum',
        },
      ],
    },
  },
};

/** A tenth of the rows may be unreadable. */
export const lenient = { ...twoSources, guard: { maxRejects: '10%' } };

/** The same for machines that share a ledger, whose histories last some minutes. */
export const sharedSources = { ...twoSources, pushOnChange: '5s' };

/** A push may land two minutes after it was sent: longer than it takes until another agent leads. */
export const slowService = { ...sharedSources, destination: { ...destination, timeout: '2m' }, pushOnChange: '1s' };

export const oneSource = { ...twoSources, sources: { sales: twoSources.sources.sales } };

/** Somebody approves the first push, and months are closed. */
export const firstToApprove = { ...twoSources, guard: { firstPush: 'approve' }, lastClose: { day: 10 } };

/** Only the newest of dated exports counts, and of another source what earlier exports had of older months. */
export const datedExports = {
  ...twoSources,
  sources: {
    sales: { ...twoSources.sources.sales, parts: 'newest' },
    costs: { ...twoSources.sources.costs, history: 'carry' },
  },
};

/** A database that is asked when it was changed, which may lag, and a workbook. */
export const answered = {
  destination,
  pushOnChange: '1m',
  sources: {
    books: {
      type: 'postgres',
      url: 'postgres://reader@db.test/books',
      changed: 'SELECT max(updated_at) FROM entries',
      query: 'SELECT id, time, value FROM entries',
      drivers: [{ ...drivers[0], id: 'books/{id}', path: ['Books', '{id}'] }],
    },
    plan: {
      type: 'xlsx',
      files: ['plan/*.xlsx'],
      drivers: [{ ...drivers[0], id: 'plan/{id}', path: ['Plan', '{id}'] }],
    },
  },
};

/** The same database without `changed`: nothing but its months says that it lags. */
export const lagging = {
  ...answered,
  sources: { books: { ...answered.sources.books, changed: undefined }, plan: answered.sources.plan },
};
