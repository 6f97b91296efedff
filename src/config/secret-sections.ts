/** Keys beneath which everything may be secret, whatever its own key. */
export const secretSections: ReadonlySet<string> = new Set(
  'headers notify heartbeat command env s3 sftp dav oauth ledger'.split(' '),
);
