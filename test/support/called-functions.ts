import { Session } from 'node:inspector/promises';

/** How many calls of functions `work` takes, in all scripts: a measure of work that no other process disturbs. */
export async function calledFunctions(work: () => Promise<unknown>): Promise<number> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    return result.flatMap(({ functions }) => functions).reduce((sum, { ranges }) => sum + (ranges[0]?.count ?? 0), 0);
  } finally {
    session.disconnect();
  }
}
