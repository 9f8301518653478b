/** Which inbound streams are served: those of proven members, of heard ones where the protocol takes them, and no others. */
import type { Connection, Stream } from '@libp2p/interface'
import { type Clock, withDeadline } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { MEMBER_HANDSHAKE_MS } from '../limits.ts'
import { UNPROVEN_STREAMS } from './limits.ts'
import type { Membership } from '../membership/membership.ts'
import type { RefusalCode } from '../p2p-error.ts'

/** Who may be at the other end of a stream, and over what. */
export interface StreamRules {
  /** `proven` means on the stream's own connection; `heard` takes legacy members, who cannot prove, as well. */
  readonly from: 'proven' | 'heard'
  /** False when the protocol never goes over a relay. */
  readonly relayed: boolean
  /** True: what is sent first goes along with the protocol's name. By default only with `heard`. */
  readonly lazy?: boolean | undefined
  /** True when members that are kept out are served, too. */
  readonly ungated?: boolean | undefined
}

/** Judges inbound streams against the rules of their protocol. */
export class StreamAdmission {
  readonly #membership: Membership
  readonly #clock: Clock
  /** Streams that wait for the proof of their connection, which counts as the peer. */
  readonly #waiting = new Scope(UNPROVEN_STREAMS)

  constructor(components: { readonly membership: Membership; readonly clock: Clock }) {
    this.#membership = components.membership
    this.#clock = components.clock
  }

  /**
   * Gives undefined for a stream that may be served, or the reason why not. A known answer comes at once, so that the first bytes of
   * the stream find their reader. A promise comes only while the connection is not proven.
   */
  judge(
    stream: Stream,
    connection: Connection,
    rules: StreamRules,
  ): RefusalCode | undefined | Promise<RefusalCode | undefined> {
    if (!rules.relayed && !connection.direct) return 'channel.relayed'
    const standing = this.#membership.standing(connection)
    if (standing === 'proven') return this.#gate(connection, rules)
    if (rules.from === 'proven') return this.#untilProven(stream, connection, rules)
    const isHeard = standing !== 'refused' && this.#membership.isMember(connection.remotePeer.toString())
    return isHeard ? undefined : 'channel.not_member'
  }

  #gate({ remotePeer }: Connection, { ungated }: StreamRules): RefusalCode | undefined {
    return ungated === true || this.#membership.mayUse(remotePeer.toString())
      ? undefined
      : 'channel.not_admitted'
  }

  async #untilProven(
    stream: Stream,
    connection: Connection,
    rules: StreamRules,
  ): Promise<RefusalCode | undefined> {
    const place = this.#waiting.reserve({ peer: connection.id })
    if (place === undefined) return 'channel.not_member'
    // what a stranger sends meanwhile stays within the stream's first window
    if (stream.readStatus === 'readable') stream.pause()
    const reason = () => new Error('the peer did not prove that it is a member')
    const proven = await withDeadline({ clock: this.#clock, ms: MEMBER_HANDSHAKE_MS, reason }, (signal) =>
      this.#membership.whenProven(connection, signal),
    )
    place.release()
    return proven ? this.#gate(connection, rules) : 'channel.not_member'
  }
}
