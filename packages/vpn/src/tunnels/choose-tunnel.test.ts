import type { PeerKey } from './key-registry.ts'
import { describe, expect, it } from 'vitest'
import { LEGACY_MTU } from '../legacy/limits.ts'
import { chooseTunnel, noTunnel } from './choose-tunnel.ts'

const MTU = 1280
const NOTHING = { key: undefined, hasChannel: false, speaksVpn: undefined, speaksLegacy: false }
const LEGACY = { ...NOTHING, speaksVpn: false, speaksLegacy: true }
const none = noTunnel(MTU)

function keyOf(byte: number, mtu = 1500): PeerKey {
  const [publicKey, presharedKey] = [byte, 7].map((each) => new Uint8Array(32).fill(each))
  return {
    publicKey: publicKey ?? new Uint8Array(),
    presharedKey: presharedKey ?? new Uint8Array(),
    mtu,
    since: 0,
  }
}

describe('the tunnel to a peer', () => {
  it('is none while nothing is known, and stays the same object', () => {
    expect(chooseTunnel(none, NOTHING, MTU)).toBe(none)
    expect(chooseTunnel(none, { ...NOTHING, speaksVpn: true }, MTU)).toBe(none)
    expect(chooseTunnel(none, { ...NOTHING, speaksVpn: false }, MTU)).toBe(none)
  })

  it('is sealed with the key that the peer proved, within the smaller MTU', () => {
    const key = keyOf(1, 1000)
    const chosen = chooseTunnel(none, { ...NOTHING, key }, MTU)
    const { publicKey, presharedKey } = key
    expect(chosen).toEqual({
      tunnel: { kind: 'wireguard', publicKey, presharedKey, path: { kind: 'stream' } },
      mtu: 1000,
    })
    expect(chooseTunnel(chosen, { ...NOTHING, key }, MTU)).toBe(chosen)
    expect(chooseTunnel(chosen, { ...NOTHING, key: keyOf(2, 1000) }, MTU)).not.toBe(chosen)
    expect(chooseTunnel(chosen, { ...NOTHING, key: { ...key, mtu: 9000 } }, MTU).mtu).toBe(MTU)
  })

  it('is legacy for a peer that says so and speaks nothing newer', () => {
    const chosen = chooseTunnel(none, LEGACY, MTU)
    expect(chosen).toEqual({ tunnel: { kind: 'legacy' }, mtu: LEGACY_MTU })
    expect(chooseTunnel(chosen, LEGACY, MTU)).toBe(chosen)
    expect(chooseTunnel(none, { ...LEGACY, speaksVpn: true }, MTU)).toBe(none)
  })

  it('stays legacy while the peer is away, and sends nothing unsealed any more once it was updated', () => {
    const chosen = chooseTunnel(none, LEGACY, MTU)
    expect(chooseTunnel(chosen, NOTHING, MTU)).toBe(chosen)
    expect(chooseTunnel(chosen, { ...NOTHING, speaksVpn: true }, MTU)).toEqual(none)
  })

  it('stays sealed for a peer whose key we hold, unless a legacy node took its place', () => {
    const known = { ...LEGACY, key: keyOf(1) }
    const chosen = chooseTunnel(none, { ...NOTHING, key: known.key }, MTU)
    expect(chooseTunnel(chosen, { ...known, hasChannel: true }, MTU)).toBe(chosen)
    expect(chooseTunnel(chosen, known, MTU).tunnel.kind).toBe('legacy')
  })
})
