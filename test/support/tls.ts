import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { hostSettings } from '../../src/core/settings/host-settings';
import { Settings } from '../../src/core/settings/settings';
import { makeCertificate } from './certificate';

/** Settings of a server that speaks HTTPS as localhost. */
export interface TlsSettings {
  env: NodeJS.ProcessEnv;
  settings: Settings;
  /** The certificate, for clients to trust. */
  ca: string;
  remove(): void;
}

/** @param days how long the certificate is valid */
export function tlsSettings(days?: number, kind?: 'ec' | 'rsa'): TlsSettings {
  const folder = mkdtempSync(path.join(tmpdir(), 'tls-test-'));
  const { cert, key } = makeCertificate(days, kind);
  const certFile = path.join(folder, 'cert.pem');
  const keyFile = path.join(folder, 'key.pem');
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  const env = { TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile };
  return {
    env,
    settings: new Settings(Object.values(hostSettings), env),
    ca: cert,
    remove: () => {
      rmSync(folder, { recursive: true });
    },
  };
}
