/**
 * Who keeps its connection when there are too many. libp2p closes those of the least worth first, and only idle ones:
 * 1. members are worth more, for as long as they count as members, so that one that comes back is not the first to go
 * 2. near the limit, strangers that had their time to prove themselves go, whatever streams they hold: beyond the
 *    limit libp2p accepts nobody, and strangers alone could keep all members out
 */
import type { Connection, Libp2p } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import type { Clock, Logger } from '@mesh/core'
import { FREE_FOR_MEMBERS, HEARD_MEMBER_MS, MAX_CONNECTIONS, STRANGER_STAYS_MS } from '../limits.ts'
import type { Membership } from '../membership/membership.ts'

export interface FavourMembersInit {
  readonly host: Pick<Libp2p, 'peerStore' | 'getConnections' | 'addEventListener' | 'removeEventListener'>
  readonly membership: Pick<Membership, 'isMember' | 'onChange'>
  /** Stays as members do. */
  readonly isConfigured: (peer: string) => boolean
  /** Default `MAX_CONNECTIONS`. */
  readonly maxConnections?: number
}

const TAG = 'mesh-member'
/** The greatest that libp2p takes. */
const MEMBER_WORTH = 100

/** @returns stops it */
export function favourMembers(
  init: FavourMembersInit,
  components: { readonly clock: Clock; readonly logger: Logger },
): () => void {
  const { host, membership, isConfigured, maxConnections = MAX_CONNECTIONS } = init
  const { clock, logger: log } = components
  const roomForStrangers = Math.floor(maxConnections * (1 - FREE_FOR_MEMBERS))
  let cancel: (() => void) | undefined

  const stopTagging = membership.onChange((peer, proven) => {
    const tag = { value: MEMBER_WORTH, ...(proven ? {} : { ttl: HEARD_MEMBER_MS }) }
    host.peerStore
      .merge(peerIdFromString(peer), { tags: { [TAG]: tag } })
      .catch((error: unknown) => log.debug('member not tagged', { peer, reason: String(error) }))
  })

  function makeRoom(): void {
    cancel = undefined
    const open = host.getConnections().filter(({ status }) => status === 'open')
    const tooMany = open.length - roomForStrangers
    if (tooMany <= 0) return
    const strangers = open.filter(isStranger).sort((a, b) => a.timeline.open - b.timeline.open)
    const goBefore = clock.now() - STRANGER_STAYS_MS
    const late = strangers.filter(({ timeline }) => timeline.open <= goBefore)
    for (const connection of late.slice(0, tooMany)) connection.abort(new Error('makes room for members'))
    // at the limit nobody more comes, so nothing else would tell when to look again
    const next = strangers[late.length]
    if (next !== undefined) lookAgain(next.timeline.open - goBefore)
  }
  const isStranger = ({ remotePeer }: Connection) =>
    !membership.isMember(remotePeer.toString()) && !isConfigured(remotePeer.toString())
  const lookAgain = (waitMs: number) => {
    cancel ??= clock.after(waitMs, makeRoom)
  }
  const onOpen = () => lookAgain(0)

  host.addEventListener('connection:open', onOpen)
  return () => {
    stopTagging()
    cancel?.()
    host.removeEventListener('connection:open', onOpen)
  }
}
