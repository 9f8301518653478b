import { cidrContains, parseCidr } from '@mesh/core'
import { RTCPeerConnection } from 'node-datachannel/polyfill'
import { afterAll, expect, test } from 'vitest'
import { blockCandidates, isBlockedCandidate } from './candidates.ts'
import { holdWebRtcLibrary } from './library.ts'

const vpn = parseCidr('10.1.0.0/24')
const derived = parseCidr('fd25:2bca:696f::/64')
const isBlocked = (ip: Parameters<typeof cidrContains>[1]) =>
  cidrContains(vpn, ip) || cidrContains(derived, ip)
const release = holdWebRtcLibrary()
afterAll(release)

test.each([
  ['candidate:1 1 UDP 2122317823 10.1.0.2 50000 typ host', true],
  ['candidate:1 1 UDP 2122317823 fd25:2bca:696f:0:1::2 50000 typ host', true],
  ['candidate:1 1 UDP 2122317823 FD25:2BCA:696F:0::2 50000 typ host', true],
  ['candidate:1 1 UDP 2122317823 192.168.1.2 50000 typ host', false],
  ['candidate:1 1 UDP 2122317823 5e0a.local 50000 typ host', true],
  ['', false],
  ['candidate:1', true],
  // the native library reads 1 and UDP where a space is missing, and an address that is not the fifth word
  ['candidate:1 1UDP 2122317823 10.1.0.2 192.168.1.2 50000 typ host', true],
])('%s: blocked is %s', (candidate, expected) => {
  expect(isBlockedCandidate(candidate, isBlocked)).toBe(expected)
})

test('blocked candidates never reach the library, whichever way they come', async () => {
  const [near, far] = [new RTCPeerConnection({ iceServers: [] }), new RTCPeerConnection({ iceServers: [] })]
  const unblock = blockCandidates(isBlocked)
  try {
    far.createDataChannel('init')
    const { sdp = '' } = await far.createOffer()
    const described = ['10.1.0.2', '192.168.1.2'].map((ip) => `a=${candidateAt(ip)}\r\n`).join('')
    await near.setRemoteDescription({ type: 'offer', sdp: sdp + described })
    for (const ip of ['10.1.0.3', '192.168.1.3']) {
      await near.addIceCandidate({ candidate: candidateAt(ip), sdpMid: '0' })
    }
    const text = near.remoteDescription?.sdp ?? ''
    const ice = near.sctp?.transport.iceTransport as RemoteCandidates | undefined
    const known = ice?.getRemoteCandidates().map(({ candidate }) => candidate)
    expect(text).toContain('192.168.1.2')
    expect(text).not.toContain('10.1.0.2')
    expect(known).toEqual([candidateAt('192.168.1.3')])
  } finally {
    unblock()
    near.close()
    far.close()
  }
})

/** In the library, not in TypeScript's types of browsers. */
type RemoteCandidates = RTCIceTransport & {
  getRemoteCandidates(): readonly { readonly candidate: string }[]
}

function candidateAt(ip: string): string {
  return `candidate:1 1 UDP 2122317823 ${ip} 50000 typ host`
}
