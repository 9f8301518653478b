/**
 * Keeps WebRTC out of blocked ranges. It finds its way by itself, past libp2p's rules for addresses: given the chance
 * two members that only a relay joins connect "directly" through the VPN, whose packets that relay carries, and the VPN
 * then sends them by that connection, into itself. Candidates of the other side that lie in a blocked range are left
 * out; without one, nothing is sent there. The library's class cannot be handed to libp2p, so its methods are wrapped,
 * once for a process; every node of it adds its rules.
 */
import { type IpAddress, tryParseIp } from '@mesh/core'
import { RTCPeerConnection } from 'node-datachannel/polyfill'

type IsBlocked = (ip: IpAddress) => boolean

const rules = new Set<IsBlocked>()
let wrapped = false

/** Adds a rule; gives the function that takes it away. */
export function blockCandidates(isBlocked: IsBlocked): () => void {
  if (!wrapped) wrap()
  wrapped = true
  rules.add(isBlocked)
  return () => rules.delete(isBlocked)
}

/** True for a line like `candidate:1 1 UDP 2122317823 10.1.0.2 50000 typ host` whose address the rule blocks. */
export function isBlockedCandidate(candidate: string, isBlocked: IsBlocked): boolean {
  const ip = tryParseIp(candidate.trim().split(/\s+/)[4] ?? '')
  return ip !== undefined && isBlocked(ip)
}

function isBlockedByAny(candidate: string): boolean {
  return [...rules].some((isBlocked) => isBlockedCandidate(candidate, isBlocked))
}

function wrap(): void {
  const { prototype } = RTCPeerConnection
  const add = prototype.addIceCandidate
  const describe = prototype.setRemoteDescription
  prototype.addIceCandidate = async function (candidate) {
    if (isBlockedByAny(candidate?.candidate ?? '')) return
    await add.call(this, candidate)
  }
  prototype.setRemoteDescription = async function (description) {
    const lines = (description.sdp ?? '').split('\r\n')
    const kept = lines.filter((line) => !line.startsWith('a=candidate:') || !isBlockedByAny(line.slice(2)))
    await describe.call(this, { type: description.type, sdp: kept.join('\r\n') })
  }
}
