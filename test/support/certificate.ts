/** Certificates for servers of tests. Node cannot make one. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** One for a host and 127.0.0.1 that vouches for itself, so that it is an authority too. */
export function certify(host: string): Identity {
  const folder = mkdtempSync(join(tmpdir(), 'driver-sync-tls-'));
  try {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const about = ['-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host},IP:127.0.0.1`, '-days', '2'];
    execFileSync('openssl', [...request, ...about, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Where everything must be there, a missing openssl is a failure. */
export const canCertify = process.env['CI'] !== undefined || hasOpenssl();
