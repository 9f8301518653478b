import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseNetworkConfig } from '../config/config-file.ts'
import { parseToken } from '../config/token.ts'
import { portableSealCipher } from '../seal/seal-cipher.ts'
import { createSealer } from '../seal/sealer.ts'
import { createNetworkSecrets } from './network-secrets.ts'

interface Vectors {
  configs: Record<string, { yaml: string; at: WindowVector[] }>
}
interface WindowVector {
  unix: number
  counter_crypto: number
  gossip_topic: string
  public_topic: string
  seal_key_ascii: string
  dht_rendezvous: string
}
const vectors = JSON.parse(
  readFileSync(new URL('../../test/vectors/network.json', import.meta.url), 'utf8'),
) as Vectors
const YAML = vectors.configs.default43?.yaml ?? ''
const T0 = 1_786_540_000_000
const config = parseNetworkConfig(YAML)
const ascii = (text: string) => new TextEncoder().encode(text)

describe.each(Object.entries(vectors.configs))('secrets of %s', (_name, { yaml, at }) => {
  const parsed = parseNetworkConfig(yaml)
  const secrets = createNetworkSecrets(parsed)
  test.each(at)('at unix $unix', (expected) => {
    const window = secrets.windowAt(expected.unix * 1000 + 999)
    expect(window).toBe(expected.counter_crypto)
    expect(secrets.ofWindow(window)).toEqual({
      window,
      startMs: window * Number(parsed.crypto.intervalS) * 1000,
      topic: expected.gossip_topic,
      publicTopic: expected.public_topic,
      sealKey: ascii(expected.seal_key_ascii),
    })
    expect(secrets.rendezvousAt(expected.unix * 1000)?.current).toBe(expected.dht_rendezvous)
  })
})

interface LongInterval {
  name: string
  token: string
  at: {
    time: number
    window: number
    topic: string
    public_topic: string
    seal_key: string
    dht_name: string
  }[]
  sealed: { time: string; plaintext: string; message: string }
}
const longIntervals = JSON.parse(
  readFileSync(new URL('../../test/vectors/long-intervals.json', import.meta.url), 'utf8'),
) as { configs: LongInterval[] }

describe.each(longIntervals.configs)('secrets that hardly ever rotate: $name', ({ token, at, sealed }) => {
  const secrets = createNetworkSecrets(parseToken(token))

  test.each(at)('at unix $time', ({ time, window, topic, public_topic, seal_key, dht_name }) => {
    expect(secrets.windowAt(Number(time) * 1000)).toBe(Number(window))
    expect(secrets.ofWindow(Number(window))).toMatchObject({
      topic,
      publicTopic: public_topic,
      sealKey: ascii(seal_key),
    })
    expect(secrets.rendezvousAt(Number(time) * 1000)?.current).toBe(dht_name)
  })

  test('opens what a legacy node sealed', () => {
    const opened = createSealer(secrets, portableSealCipher).unseal(
      sealed.message,
      Number(sealed.time) * 1000,
    )
    expect(new TextDecoder().decode(opened?.plaintext)).toBe(sealed.plaintext)
  })
})

test('the rendezvous of the windows around a time meet at the boundary', () => {
  const secrets = createNetworkSecrets(config)
  const before = secrets.rendezvousAt(1_786_540_319_999)
  const after = secrets.rendezvousAt(1_786_540_320_000)
  expect(before?.changesAtMs).toBe(1_786_540_320_000)
  expect([before?.current, before?.next]).toEqual([after?.previous, after?.current])
})

test('without otp.dht the rendezvous is the static one, or none', () => {
  const fixed = { ...config, dht: undefined }
  expect(createNetworkSecrets(fixed).rendezvousAt(T0)).toEqual({
    previous: config.rendezvous,
    current: config.rendezvous,
    next: config.rendezvous,
    changesAtMs: undefined,
  })
  expect(createNetworkSecrets({ ...fixed, rendezvous: '' }).rendezvousAt(T0)).toBeUndefined()
})
