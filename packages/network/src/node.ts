/**
 * Only Node has this part of `@mesh/network`: the seal's cipher by OpenSSL.
 *
 * @example
 * ```ts
 * import { systemRandom } from '@mesh/core'
 * import { createNetworkSecrets, createSealer, generateNetworkConfig } from '@mesh/network'
 * import { nativeSealCipher } from '@mesh/network/node'
 *
 * const secrets = createNetworkSecrets(generateNetworkConfig({}, systemRandom))
 * const sealer = createSealer(secrets, nativeSealCipher)
 * const sealed = sealer.seal(new TextEncoder().encode('hello'), secrets.windowAt(0), systemRandom.bytes(12))
 * console.log(sealer.unseal(sealed, 0)?.plaintext)
 * ```
 */
export { nativeSealCipher } from './seal/native-seal-cipher.ts'
