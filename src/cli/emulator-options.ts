/** The options of `driver-sync emulator`: as they are written, what they do, and their default. */
export const emulatorOptions: readonly (readonly [flags: string, about: string, fallback?: string])[] = [
  ['--listen <host:port>', 'where', '127.0.0.1:8787'],
  ['--state <dir>', 'keep its data there (else in memory)'],
  ['--token <token>', 'required from then on, on /api and /v1 (others on the machine can read it in `ps`)'],
  ['--token-file <file>', 'the same from a file; also from $DRIVER_SYNC_EMULATOR_TOKEN'],
  ['--origin <origin...>', 'further origins: of a proxy in front of it, or of pages that may send requests'],
  ['--public-url <url>', 'the address at which clients find it (else the one that each request names)'],
  ['--fork-ports <first-last>', 'the ports at which forks listen, such as 8788-8797 (else any free port)'],
  ['--keep-bodies <bytes>', 'how much of each body the request log keeps (16384; 0: nothing)'],
  ['--strict', 'behave as strictly as the live service'],
  [
    '--speed <n>',
    'how fast time goes for tasks (1: they take about 5 s; 0: only when advanced; else 1, or what --state has)',
  ],
  ['--credits <n>', 'the credit balance (else 100 000, or what --state has)'],
  ['--tier <n>', 'the limits of tier 1 to 5, with daily caps (else those of tier 1 without)'],
  ['--catalog <file>', 'models to add and remove, as JSON; SIGHUP reads it again'],
  ['--faults <file>', 'a script of faults, as JSON'],
  ['--fixtures <file>', 'what it begins with, as JSON: drivers, routers, credits, time, catalog, faults'],
  ['--record <url>', 'instead: pass requests on to this service, and record the exchanges without secrets'],
  ['--replay <file>', 'instead: answer from a recording'],
];
