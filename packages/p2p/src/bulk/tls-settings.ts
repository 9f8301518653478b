/** TLS 1.3 with pre-shared keys and an ephemeral key exchange; no certificate is ever trusted. */
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'

const SETTINGS: SecureContextOptions = {
  minVersion: 'TLSv1.3',
  maxVersion: 'TLSv1.3',
  // pre-shared keys go with its hash; AES is what processors have instructions for
  ciphers: 'TLS_AES_128_GCM_SHA256',
  ecdhCurve: 'X25519',
  // without this the system's certificates are loaded, and would be trusted
  ca: [],
}

export type TlsSettings = SecureContextOptions & { readonly secureContext: SecureContext }

/** One context for many connections: making one takes longer than a handshake. */
export function createTlsSettings(): TlsSettings {
  return { ...SETTINGS, secureContext: createSecureContext(SETTINGS) }
}
