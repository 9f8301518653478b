/** This node's own report: its paths to connected members, and the answers to members that ask. */
import { type Clock, tryParsePeerId } from '@mesh/core'
import { createRate, type RateLimit } from '@mesh/core/limits'
import type { Bandwidth, Channel } from '../p2p-node.ts'
import type { BookedPeer } from '../peers/peer-book.ts'
import { PATHS_PROTOCOL } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'
import { MAX_TOLD_PATHS, OWN_REPORT_AGE_MS, REPORT_QUESTIONS } from './limits.ts'
import type { ToldPath, ToldPaths } from './path-report.ts'
import { encodePaths } from './paths-message.ts'

/** The part of the book's page on a peer that a report needs. */
export type Reached = Pick<BookedPeer, 'id' | 'connected' | 'member' | 'path' | 'relay' | 'rttMs'>

export interface OwnReportComponents {
  readonly book: { all(): readonly Reached[] }
  readonly bandwidth: Pick<Bandwidth, 'byPeer'>
  readonly refusals: Pick<Refusals, 'refuse'>
  readonly clock: Clock
}

export class OwnReport {
  readonly #parts: OwnReportComponents
  readonly #questions: RateLimit
  #last: { readonly at: number; readonly bytes: Uint8Array } | undefined

  constructor(components: OwnReportComponents) {
    this.#parts = components
    this.#questions = createRate(REPORT_QUESTIONS, components.clock)
  }

  /** Gives the members that are connected now. */
  members(): readonly Reached[] {
    return this.#parts.book.all().filter(({ connected, member }) => connected && member)
  }

  /** @param members those of `members()` */
  tell(members: readonly Reached[]): ToldPaths {
    const traffic = this.#parts.bandwidth.byPeer()
    const paths = members.slice(0, MAX_TOLD_PATHS).flatMap((member): ToldPath | readonly [] => {
      const { rateIn = 0, rateOut = 0 } = traffic.get(member.id) ?? {}
      return toldPath(member, Math.round(rateIn + rateOut)) ?? []
    })
    return { paths, more: members.length - paths.length }
  }

  /** Answers a member that opened a channel. */
  async answer(channel: Channel): Promise<void> {
    const { peer, address = peer } = channel
    if (this.#questions.take({ peer, address })) return await channel.send(this.#bytes())
    this.#parts.refusals.refuse('paths.too_many', { peer, protocol: PATHS_PROTOCOL })
    channel.abort(new Error('asked too often'))
  }

  #bytes(): Uint8Array {
    const at = this.#parts.clock.monotonic()
    if (this.#last === undefined || at - this.#last.at >= OWN_REPORT_AGE_MS)
      this.#last = { at, bytes: encodePaths(this.tell(this.members())) }
    return this.#last.bytes
  }
}

function toldPath({ id, path, relay, rttMs }: Reached, bytesPerSecond: number): ToldPath | undefined {
  const peer = tryParsePeerId(id)
  if (peer === undefined || path === undefined) return undefined
  const by = relay === undefined ? undefined : tryParsePeerId(relay)
  return { peer, path, relay: by, rttMs, bytesPerSecond }
}
