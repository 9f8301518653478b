/** The part of trust that only Node.js has: the peer guard and its ECDSA keys, as legacy networks use them. */
export { parseGuardAuth } from './gate/guard-auth.ts'
export { createPeerGuard } from './gate/peer-guard.ts'
export { type EcdsaKeyTexts, generateEcdsaKey } from './legacy/ecdsa-keys.ts'
