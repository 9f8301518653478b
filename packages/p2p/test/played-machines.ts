/** Machines whose network is played by the test: dials are answered and connections come and go as it says. */
import { createSeededRandom } from '@mesh/testkit'
import { type MachineEffect, Machines } from '../src/reach/machines.ts'
import type { PeerAddress, PeerInput, Route, SeenConnection } from '../src/reach/peer-state.ts'
import type { Surroundings } from '../src/reach/plan.ts'

export const DIRECT: PeerAddress = { text: '/ip4/192.0.2.1/tcp/4001', relay: undefined }
export const RELAYED: PeerAddress = { text: '/ip4/192.0.2.9/tcp/4001/p2p/relay/p2p-circuit', relay: 'relay' }

export interface PlayedDial {
  readonly peer: string
  readonly route: Route
  readonly at: number
}

export type PlayedAnswer = 'connects' | 'fails' | 'hangs'

export interface Played {
  readonly machines: Machines
  readonly dials: PlayedDial[]
  readonly effects: MachineEffect[]
  now(): number
  take(peer: string, input: PeerInput): void
  /** @param from the address that told of it */
  found(
    peer: string,
    addresses?: readonly PeerAddress[],
    kind?: 'configured' | 'member' | 'found',
    from?: string,
  ): void
  connect(peer: string, options?: Partial<SeenConnection>): string
  disconnect(peer: string, id?: string, missed?: boolean): void
  /** Moves time on; what is due runs when it is due. */
  advance(ms: number): void
  /** Connections of a peer that stand. */
  open(peer: string): readonly SeenConnection[]
  /** Peers whose connections were told to close, in that order. */
  readonly closed: string[]
}

export function playMachines(
  self: string,
  init: {
    readonly answer?: (dial: PlayedDial) => PlayedAnswer
    /** How long a dial takes that connects or fails, in ms; default none. */
    readonly tookMs?: (dial: PlayedDial) => number
    readonly surroundings?: Partial<Surroundings>
    /** By peer, where a demand or an upgrade looks; default what was found. */
    readonly usable?: (peer: string) => readonly PeerAddress[]
  } = {},
): Played {
  const random = createSeededRandom(1)
  const machines = new Machines({ self, seed: () => Math.floor(random.float() * 2 ** 32) })
  const played = new PlayedMachines(machines, init)
  return played
}

class PlayedMachines implements Played {
  readonly machines: Machines
  readonly dials: PlayedDial[] = []
  readonly effects: MachineEffect[] = []
  readonly closed: string[] = []
  readonly #init: Parameters<typeof playMachines>[1]
  readonly #connections = new Map<string, SeenConnection[]>()
  readonly #later: { at: number; run: () => void }[] = []
  #now = 1_000
  #ids = 0

  constructor(machines: Machines, init: Parameters<typeof playMachines>[1]) {
    this.machines = machines
    this.#init = init
  }

  readonly now = () => this.#now

  readonly open = (peer: string) => this.#connections.get(peer) ?? []

  readonly take = (peer: string, input: PeerInput): void => {
    this.#carryOut(this.machines.take(peer, input, this.#now))
  }

  readonly found = (
    peer: string,
    addresses = [DIRECT],
    kind: 'configured' | 'member' | 'found' = 'found',
    from?: string,
  ): void => {
    this.take(peer, { type: 'found', addresses, kind, ...(from !== undefined && { from }) })
  }

  readonly connect = (peer: string, options: Partial<SeenConnection> = {}): string => {
    const id = options.id ?? `c${++this.#ids}`
    const direct = options.direct ?? true
    const connection: SeenConnection = {
      id,
      direct,
      outbound: true,
      transport: 'tcp',
      relayAt: direct ? undefined : '/ip4/192.0.2.9/tcp/4001/p2p/relay',
      used: false,
      dialsBack: false,
      openedAt: this.#now,
      asked: false,
      ...options,
    }
    this.#connections.set(peer, [...this.open(peer), connection])
    this.take(peer, { type: 'connections', connections: this.open(peer) })
    return id
  }

  readonly disconnect = (peer: string, id?: string, missed = false): void => {
    const left = id === undefined ? [] : this.open(peer).filter((connection) => connection.id !== id)
    this.#connections.set(peer, left)
    this.take(peer, {
      type: 'connections',
      connections: left,
      ...(missed && left.length === 0 ? { missedAt: [DIRECT] } : {}),
    })
  }

  readonly advance = (ms: number): void => {
    const until = this.#now + ms
    for (;;) {
      const wake = this.#plan()
      const next = Math.min(wake, ...this.#later.map(({ at }) => at))
      if (next > until) break
      this.#now = Math.max(this.#now, next)
      for (const later of this.#later.filter(({ at }) => at <= this.#now)) {
        this.#later.splice(this.#later.indexOf(later), 1)
        later.run()
      }
      this.#carryOut(this.machines.tick(this.#now))
    }
    this.#now = until
    this.#carryOut(this.machines.tick(this.#now))
  }

  #plan(): number {
    const surroundings: Surroundings = {
      canUpgrade: false,
      reservations: undefined,
      isMember: () => true,
      mayTalk: () => true,
      maxConnections: 300,
      ...this.#init?.surroundings,
    }
    const usable = this.#init?.usable
    const { effects, wakeAt } = this.machines.plan(
      {
        surroundings,
        usable: ({ peer, addresses }, purpose) =>
          purpose === 'search' || usable === undefined ? addresses : usable(peer),
      },
      this.#now,
    )
    this.#carryOut(effects)
    return wakeAt
  }

  #carryOut(effects: readonly MachineEffect[]): void {
    this.effects.push(...effects)
    for (const { peer, effect } of effects) {
      if (effect.type === 'dial' || effect.type === 'dialWebRtc') {
        const route = effect.type === 'dial' ? effect.route : 'webrtc'
        this.#dial({ peer, route, at: this.#now }, effect.attempt)
      } else if (effect.type === 'close' || effect.type === 'abort') {
        this.closed.push(peer)
        this.#later.push({ at: this.#now, run: () => this.disconnect(peer, effect.connection) })
      }
    }
  }

  #dial(dial: PlayedDial, attempt: number): void {
    this.dials.push(dial)
    const { peer, route } = dial
    const answer = this.#init?.answer?.(dial) ?? 'connects'
    if (answer === 'hangs') return
    const run = () => {
      if (answer === 'connects') this.connect(peer, { direct: route !== 'relay' })
      this.take(peer, {
        type: 'dialled',
        route,
        attempt,
        ...(answer === 'connects' ? {} : { error: 'no answer' }),
      })
    }
    this.#later.push({ at: this.#now + (this.#init?.tookMs?.(dial) ?? 0), run })
  }
}
