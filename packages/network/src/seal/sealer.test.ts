import { readFileSync } from 'node:fs'
import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js'
import { describe, expect, test } from 'vitest'
import { parseNetworkConfig } from '../config/config-file.ts'
import { createNetworkSecrets } from '../secrets/network-secrets.ts'
import { nativeSealCipher } from './native-seal-cipher.ts'
import { portableSealCipher } from './seal-cipher.ts'
import { createSealer } from './sealer.ts'

interface Vectors {
  configs: Record<string, { yaml: string }>
  seal: { key_ascii: string; nonce_hex: string; cases: { plaintext_hex: string; sealed_hex: string }[] }
}
const vectors = JSON.parse(
  readFileSync(new URL('../../test/vectors/network.json', import.meta.url), 'utf8'),
) as Vectors
const YAML = vectors.configs.default43?.yaml ?? ''
const T0 = 1_786_540_000_000
const config = parseNetworkConfig(YAML)
const ascii = (text: string) => new TextEncoder().encode(text)

describe.each([
  ['portable', portableSealCipher],
  ['native', nativeSealCipher],
])('the %s seal', (_name, cipher) => {
  const secrets = createNetworkSecrets(config)
  const sealer = createSealer(secrets, cipher)
  const window = secrets.windowAt(T0)
  const nonce = hexToBytes(vectors.seal.nonce_hex)

  test.each(vectors.seal.cases)('is that of legacy nodes', ({ plaintext_hex, sealed_hex }) => {
    expect(bytesToHex(secrets.ofWindow(window).sealKey)).toBe(bytesToHex(ascii(vectors.seal.key_ascii)))
    expect(sealer.seal(hexToBytes(plaintext_hex), window, nonce)).toBe(sealed_hex)
    for (const hex of [sealed_hex, sealed_hex.toUpperCase()]) {
      const unsealed = sealer.unseal(hex, T0)
      expect(bytesToHex(unsealed?.plaintext ?? new Uint8Array())).toBe(plaintext_hex)
      expect(unsealed?.window).toBe(window)
    }
  })

  test('opens one window early and one late, no more', () => {
    const sealed = sealer.seal(ascii('x'), window, nonce)
    const opensAt = (ms: number) => sealer.unseal(sealed, T0 + ms) !== undefined
    expect([-720_000, -360_000, 0, 360_000, 720_000].map(opensAt)).toEqual([false, true, true, true, false])
  })

  // the portable cipher makes blocks of its own, which wait to be collected
  test.runIf(cipher === nativeSealCipher)('leaves nothing of a long text but what it opened to', () => {
    const plaintext = new Uint8Array(8 * 2 ** 20)
    const sealed = ascii(sealer.seal(plaintext, window, nonce))
    const before = process.memoryUsage().arrayBuffers
    expect(sealer.unseal(sealed, T0)?.plaintext.length).toBe(plaintext.length)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(12 * 2 ** 20)
  })

  test('refuses every change, cut and foreign text', () => {
    const sealed = sealer.seal(ascii('plain'), window, nonce)
    for (let at = 0; at < sealed.length; at++) {
      const digit = sealed[at] === '0' ? '1' : '0'
      expect(sealer.unseal(sealed.slice(0, at) + digit + sealed.slice(at + 1), T0)).toBeUndefined()
      expect(sealer.unseal(sealed.slice(0, at), T0)).toBeUndefined()
    }
    // a digit whose low byte is that of the digit that was there: one sealed text must not be told as many
    const lookalike = String.fromCharCode(0x0100 + sealed.charCodeAt(0)) + sealed.slice(1)
    for (const odd of [lookalike, '', 'zz', `${sealed}0`, `${sealed} `, 'é'.repeat(100)]) {
      expect(sealer.unseal(odd, T0)).toBeUndefined()
    }
  })
})
