/**
 * Keeps WebRTC out of blocked ranges. It finds its way by itself, past libp2p's rules for addresses: given the chance
 * two members that only a relay joins connect "directly" through the VPN, whose packets that relay carries, and the VPN
 * then sends them by that connection, into itself. Candidates of the other side that lie in a blocked range are left
 * out; without one, nothing is sent there. So are names, which the library would look up for anybody, whatever range they
 * lead to, and more addresses than a peer has. The library's class cannot be handed to libp2p, so its methods are wrapped,
 * once for a process; every node of it adds its rules.
 */
import { type IpAddress, tryParseIp } from '@mesh/core'
import { RTCPeerConnection } from 'node-datachannel/polyfill'
import { MAX_CANDIDATES } from '../limits.ts'

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

/**
 * True for a line like `candidate:1 1 UDP 2122317823 10.1.0.2 50000 typ host` whose address the rule blocks, and for one in
 * which a name stands in its place, or that the library might read otherwise: names it looks up, whoever says them.
 */
export function isBlockedCandidate(candidate: string, isBlocked: IsBlocked): boolean {
  if (candidate.trim() === '') return false
  const ip = tryParseIp(CANDIDATE.exec(candidate)?.[1] ?? '')
  return ip === undefined || isBlocked(ip)
}

const CANDIDATE = /^(?:a=)?candidate:[!-~]+ +\d+ +[A-Za-z]+ +\d+ +([0-9A-Fa-f:.]+) +\d+ +typ /

function isBlockedByAny(candidate: string): boolean {
  return [...rules].some((isBlocked) => isBlockedCandidate(candidate, isBlocked))
}

function wrap(): void {
  const { prototype } = RTCPeerConnection
  const add = prototype.addIceCandidate
  const describe = prototype.setRemoteDescription
  const told = new WeakMap<object, number>()
  prototype.addIceCandidate = async function (candidate) {
    const count = (told.get(this) ?? 0) + 1
    told.set(this, count)
    if (count > MAX_CANDIDATES || isBlockedByAny(candidate?.candidate ?? '')) return
    await add.call(this, candidate)
  }
  prototype.setRemoteDescription = async function (description) {
    let count = 0
    const isKept = (line: string) =>
      !line.startsWith('a=candidate:') || (!isBlockedByAny(line) && ++count <= MAX_CANDIDATES)
    // the library takes either end of a line
    const kept = (description.sdp ?? '').split(/\r\n|\n|\r/).filter(isKept)
    await describe.call(this, { type: description.type, sdp: kept.join('\r\n') })
  }
}
