/**
 * Leaves out addresses of the other side that lie in blocked ranges, names, and more than a peer has. All nodes of a process
 * share the library's class, so each adds its rule.
 *
 * @library node-datachannel 0.33.4
 * @wraps `RTCPeerConnection.prototype`, its `addIceCandidate` and `setRemoteDescription`
 * @without The VPN's packets run in a circle: WebRTC connects two members through the VPN that it carries. The library also looks
 * up any name that a peer gives.
 * @shown `upstream/webrtc/candidates.test.ts`
 */
import { type IpAddress, tryParseIp } from '@mesh/core'
import { RTCPeerConnection } from 'node-datachannel/polyfill'
import { MAX_CANDIDATES } from '../../limits.ts'
import { openInner } from '../inner-names.ts'

type IsBlocked = (ip: IpAddress) => boolean

const rules = new Set<IsBlocked>()
let wrapped = false

/** Adds a rule; the returned function takes it away. @throws MeshError `p2p.incompatible_library` */
export function blockCandidates(isBlocked: IsBlocked): () => void {
  if (!wrapped) wrap()
  wrapped = true
  rules.add(isBlocked)
  return () => rules.delete(isBlocked)
}

/**
 * True for a line like `candidate:1 1 UDP 2122317823 10.1.0.2 50000 typ host` whose address the rule blocks. Also true for a
 * name in place of the address, and for a line that the library might read in another way.
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
  const prototype = openInner<RTCPeerConnection>('node-datachannel 0.33.4', RTCPeerConnection.prototype, [
    'addIceCandidate',
    'setRemoteDescription',
  ])
  const { addIceCandidate: add, setRemoteDescription: describe } = prototype
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
