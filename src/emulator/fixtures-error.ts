/** Fixtures that cannot be loaded: where in them, and why. */
export class FixturesError extends Error {
  override readonly name = 'FixturesError';
  /** Keys and indexes, such as `['routers', 0, 'slug']`; empty for the fixtures as a whole. */
  readonly path: readonly PropertyKey[];

  constructor(path: readonly PropertyKey[], why: string, cause?: unknown) {
    const place = path.length === 0 ? '' : ` at ${path.map(String).join('.')}`;
    super(`the fixtures are not valid${place}: ${why}`, { cause });
    this.path = path;
  }
}
