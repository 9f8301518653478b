/**
 * This package reads what a token says: the network's configuration, the secrets that rotate with time, and
 * the seal on what members say to each other. Browser-safe; a faster cipher for Node stands under
 * `@mesh/network/node`.
 *
 * @example
 * ```ts
 * import { systemRandom } from '@mesh/core'
 * import { encodeToken, generateNetworkConfig, networkId, parseToken } from '@mesh/network'
 *
 * const token = encodeToken(generateNetworkConfig({ intervalS: 360 }, systemRandom))
 * console.log(networkId(parseToken(token)))
 * ```
 */
export { formatNetworkConfig, parseNetworkConfig } from './config/config-file.ts'
export { generateNetworkConfig } from './config/generate-network.ts'
export { type NetworkConfig, networkId, type OtpConfig } from './config/network-config.ts'
export { encodeToken, parseToken } from './config/token.ts'
export type { NetworkErrorCode } from './network-error.ts'
export { portableSealCipher, type SealCipher } from './seal/seal-cipher.ts'
export {
  createSealer,
  SEAL_NONCE_BYTES,
  SEAL_TAG_BYTES,
  sealedLength,
  type Sealer,
  type Unsealed,
} from './seal/sealer.ts'
export { frameTexts } from './config/frame-texts.ts'
export {
  createNetworkSecrets,
  type NetworkSecrets,
  type Rendezvous,
  type WindowSecrets,
} from './secrets/network-secrets.ts'
