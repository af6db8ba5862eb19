import type { Server } from 'node:net';
import { Server as TlsServer } from 'node:tls';

import { validityFault } from '../core/file-schemas';
import { hostRules, hostSettings } from '../core/settings/host-settings';
import { readSettingsFile, Settings } from '../core/settings/settings';

/** All of TLS 1.3; of TLS 1.2 only ciphers with authenticated encryption and forward secrecy. */
const CIPHERS = [
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'TLS_AES_128_GCM_SHA256',
  'ECDHE+AESGCM',
  'ECDHE+CHACHA20',
].join(':');

/**
 * Returns the options for TLS; undefined if no certificate is set.
 *
 * @throws SettingsError if the certificate or its key cannot be read
 */
export function tlsOptions(settings: Settings) {
  const { tlsCertFile, tlsKeyFile } = hostSettings;
  const certFile = settings.of(tlsCertFile);
  const keyFile = settings.of(tlsKeyFile);
  if (certFile === undefined || keyFile === undefined) return undefined;
  return {
    cert: readSettingsFile(tlsCertFile.name, certFile),
    key: readSettingsFile(tlsKeyFile.name, keyFile),
    minVersion: 'TLSv1.2' as const,
    ciphers: CIPHERS,
  };
}

/** Why clients refuse a certificate at present, as a sentence without its stop; undefined if they do not. */
export function certificateFault({ cert }: { cert: Buffer }): string | undefined {
  const fault = validityFault(cert);
  return fault && `The certificate in ${hostSettings.tlsCertFile.name} ${fault}`;
}

/**
 * Reloads the certificate from its files, for new connections. Returns false if none is set.
 *
 * @throws SettingsError if the files hold no valid pair, Error if the certificate is not valid at
 *   present; the server then keeps the previous one
 */
export function reloadCertificate(server: Server, settings: Settings): boolean {
  const files = [hostSettings.tlsCertFile, hostSettings.tlsKeyFile];
  // Check them as at startup: the files may have changed.
  new Settings(
    files,
    Object.fromEntries(files.map((each) => [each.name, settings.of(each)])),
    hostRules,
  );
  const options = tlsOptions(settings);
  if (!options || !(server instanceof TlsServer)) return false;
  const fault = certificateFault(options);
  if (fault !== undefined) throw new Error(fault);
  server.setSecureContext(options);
  return true;
}
