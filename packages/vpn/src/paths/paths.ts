/**
 * The ways to peers over UDP: 1 both ends tell each other their candidates over the control stream; 2 probes go through
 * the engine's socket (`probe-message.ts`) into one state machine for each peer (`step.ts`); 3 the path that it chooses
 * stands in the engine's table. Until there is one, and whenever it dies, the stream carries on.
 */
import {
  type Clock,
  createTokenBucket,
  type Logger,
  type PeerId,
  type Random,
  type TokenBucket,
  tryParseIp,
  untilAborted,
} from '@mesh/core'
import { type Datagram, type Endpoint, endpointText, type Engine } from '@mesh/engine'
import { encodePaths, type PathsMessage } from '../tunnels/control-message.ts'
import { believedCandidates, isCandidateAddress } from './candidates.ts'
import { explain, noPath, type NoPathReason, type UdpStatus } from './explain.ts'
import {
  ACTIVITY_MS,
  ANSWERS_PER_SECOND,
  KEPT_PATHS,
  PATH_SECRET_BYTES,
  PATH_TOKEN_BYTES,
  PROBES_PER_SECOND,
  QUICK_TELLS,
  ROUNDS_MS,
  SLOW_TELL_MS,
  TELL_AFTER_MS,
} from './limits.ts'
import { createPathState } from './create-path-state.ts'
import type { Candidate, PathEffect, PathInput, PathState, UdpPath } from './path-state.ts'
import { decodeProbe, encodeProbe, probeToken } from './probe-message.ts'
import { deriveProbeKeys, type ProbeKeys } from './probe-keys.ts'
import { step, usedPath, wakeAt } from './step.ts'
import { WatchedCandidates, type WatchedCandidatesInit } from './watched-candidates.ts'

export interface PathsInit extends WatchedCandidatesInit {
  readonly self: PeerId
}

export interface PathsComponents {
  readonly engine: Pick<
    Engine,
    'sendDatagram' | 'expectDatagrams' | 'takeDatagrams' | 'activePeers' | 'udpPort'
  >
  /** Sends a control message. False: no channel stands. */
  readonly tell: (peer: PeerId, message: Uint8Array) => boolean
  /** Has routers lead a port of theirs to this UDP port, and tells where; the returned function ends it. */
  readonly mapPort?: (port: number, onMapped: (mapped: readonly Endpoint[]) => void) => () => void
  /** Called when `pathOf` says something else. */
  readonly onPath: (peer: PeerId) => void
  /** Called when a search found nothing, for another reason than before. */
  readonly onReason?: (peer: PeerId) => void
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

export interface Paths {
  /** A control channel with a peer of the table stands, whose packets have at most `mtu` bytes. */
  open(peer: PeerId, mtu: number): void
  /** The peer told how its socket can be reached. */
  told(peer: PeerId, message: PathsMessage): void
  /** The peer is no peer of the table any more, or has another key. */
  forget(peer: PeerId): void
  /** The engine's event `datagrams`. */
  datagrams(): void
  /** There is another engine, with another socket. */
  restart(): void
  pathOf(peer: PeerId): UdpPath | undefined
  /** Where this node's socket may be reached, as it is now. */
  candidates(): readonly Candidate[]
  status(peer: PeerId): UdpStatus
  /** Measures the round trip on the path in use, in ms; undefined: there is none, or it broke meanwhile. */
  measure(peer: PeerId, signal: AbortSignal): Promise<number | undefined>
  stop(): void
}

/** One peer of the table with which a control channel stood. */
interface Member {
  readonly peer: PeerId
  readonly mtu: number
  readonly secret: Uint8Array
  readonly token: Uint8Array
  /** Both ends told each other. */
  theirs: { readonly message: PathsMessage; readonly keys: ProbeKeys } | undefined
  state: PathState
  /** Those who wait for the round trip of the path in use. */
  readonly measuring: Set<(rttMs: number | undefined) => void>
  /** The reason that was told last; undefined: there is a path, or none was looked for. */
  reason: NoPathReason | undefined
  /** How many of its probes are answered. */
  readonly answers: TokenBucket
  /** When it was told candidates in the last minute. */
  toldAt: number[]
  cancelTick: (() => void) | undefined
  cancelTell: (() => void) | undefined
}

export function createPaths(init: PathsInit, components: PathsComponents): Paths {
  return new UdpPaths(init, { ...components, log: components.log.child('paths') })
}

class UdpPaths implements Paths {
  readonly #init: PathsInit
  readonly #components: PathsComponents
  readonly #members = new Map<PeerId, Member>()
  /** The members by the token, in hex, that their probes name. */
  readonly #byToken = new Map<string, Member>()
  readonly #own: WatchedCandidates
  readonly #budget: TokenBucket
  #cancelActivity: (() => void) | undefined
  #stopped = false

  constructor(init: PathsInit, components: PathsComponents) {
    this.#init = init
    this.#components = components
    this.#own = new WatchedCandidates(init, {
      ...components,
      onChange: () => {
        for (const member of this.#members.values()) this.#tellSoon(member)
      },
    })
    this.#budget = createTokenBucket(
      { perSecond: PROBES_PER_SECOND, burst: PROBES_PER_SECOND },
      components.clock,
    )
  }

  open(peer: PeerId, mtu: number): void {
    if (this.#stopped || this.#components.engine.udpPort === undefined) return
    const known = this.#members.get(peer)
    if (known?.mtu === mtu) return this.#tellSoon(known)
    if (known !== undefined) this.forget(peer)
    const { random, clock } = this.#components
    const member: Member = {
      peer,
      mtu,
      secret: random.bytes(PATH_SECRET_BYTES),
      token: random.bytes(PATH_TOKEN_BYTES),
      theirs: undefined,
      state: createPathState(mtu, clock.monotonic()),
      measuring: new Set(),
      reason: undefined,
      answers: createTokenBucket({ perSecond: ANSWERS_PER_SECOND, burst: ANSWERS_PER_SECOND }, clock),
      toldAt: [],
      cancelTick: undefined,
      cancelTell: undefined,
    }
    this.#members.set(peer, member)
    this.#byToken.set(hexOf(member.token), member)
    this.#expectProbes()
    this.#watch()
    this.#tell(member)
  }

  told(peer: PeerId, message: PathsMessage): void {
    const member = this.#members.get(peer)
    const isRight = message.secret.length === PATH_SECRET_BYTES && message.token.length === PATH_TOKEN_BYTES
    if (member === undefined || !isRight) return
    const before = member.theirs
    if (before === undefined || hexOf(before.message.secret) !== hexOf(message.secret)) {
      const keys = deriveProbeKeys(
        { self: this.#init.self, peer },
        { own: member.secret, theirs: message.secret },
      )
      if (before !== undefined) this.#reset(member)
      member.theirs = { message, keys }
    } else {
      member.theirs = { message, keys: before.keys }
    }
    const candidates = believedCandidates(message.candidates, this.#init.vpnRanges())
    this.#step(member, { type: 'candidates', candidates })
  }

  forget(peer: PeerId): void {
    const member = this.#members.get(peer)
    if (member === undefined) return
    const hadPath = usedPath(member.state) !== undefined
    member.cancelTick?.()
    member.cancelTell?.()
    for (const tell of member.measuring) tell(undefined)
    this.#members.delete(peer)
    this.#byToken.delete(hexOf(member.token))
    this.#expectProbes()
    this.#own.seen.forget(peer)
    if (this.#members.size === 0) this.#unwatch()
    if (hadPath && !this.#stopped) this.#components.onPath(peer)
  }

  datagrams(): void {
    for (const datagram of this.#components.engine.takeDatagrams()) this.#receive(datagram)
  }

  restart(): void {
    this.#expectProbes()
    for (const member of this.#members.values()) this.#reset(member)
    this.#own.restart()
  }

  pathOf(peer: PeerId): UdpPath | undefined {
    const member = this.#members.get(peer)
    return member && usedPath(member.state)
  }

  status(peer: PeerId): UdpStatus {
    const member = this.#members.get(peer)
    if (this.#components.engine.udpPort === undefined) return noPath('off')
    if (member?.theirs === undefined) return noPath('unsupported')
    return explain(member.state, this.#own.seen.varies && member.theirs.message.varies)
  }

  async measure(peer: PeerId, signal: AbortSignal): Promise<number | undefined> {
    const member = this.#members.get(peer)
    if (member?.state.chosen === undefined) return undefined
    const measured = Promise.withResolvers<number | undefined>()
    member.measuring.add(measured.resolve)
    try {
      this.#step(member, { type: 'measure' })
      return await untilAborted(measured.promise, signal)
    } finally {
      member.measuring.delete(measured.resolve)
    }
  }

  stop(): void {
    this.#stopped = true
    for (const peer of this.#members.keys()) this.forget(peer)
    this.#unwatch()
  }

  #receive({ from, length, bytes }: Datagram): void {
    const token = probeToken(bytes)
    const member = token === undefined ? undefined : this.#byToken.get(token)
    const address = tryParseIp(from.address)
    if (member?.theirs === undefined || address === undefined) return
    // a probe that went through the VPN proves a way that leads through itself
    if (!isCandidateAddress(address, this.#init.vpnRanges())) return
    const probe = decodeProbe(bytes, length, member.theirs.keys.receive)
    if (probe === undefined) return
    const source = { address, port: from.port }
    if (probe.kind === 'ping') return this.#step(member, { ...probe, type: 'ping', from: source })
    const word = this.#own.seen.learn(member.peer, probe.observed)
    if (word !== 'same') this.#own.look()
    if (word === 'other') for (const each of this.#members.values()) this.#step(each, { type: 'remapped' })
    const { chosen } = member.state
    const asked =
      chosen?.key === endpointText(source) && chosen.sent.find((each) => each.nonce === probe.nonce)
    if (asked) for (const tell of member.measuring) tell(this.#components.clock.monotonic() - asked.at)
    const observed = endpointText(probe.observed)
    const isSeenAsOwn = this.#own.latest.some(
      ({ endpoint, kind }) => kind === 'own' && endpointText(endpoint) === observed,
    )
    this.#step(member, { type: 'pong', from: source, nonce: probe.nonce, isSeenAsOwn })
  }

  #step(member: Member, input: PathInput): void {
    const { clock } = this.#components
    const effects = step(member.state, input, clock.monotonic())
    for (const effect of effects) this.#run(member, effect)
    this.#tellReason(member)
    member.cancelTick?.()
    const now = clock.monotonic()
    const at = wakeAt(member.state, now)
    member.cancelTick = Number.isFinite(at)
      ? clock.after(at - now, () => this.#step(member, { type: 'tick' }))
      : undefined
  }

  /** Tells once why a search found nothing. */
  #tellReason(member: Member): void {
    const { chosen, round } = member.state
    if (chosen !== undefined) member.reason = undefined
    else if (round >= ROUNDS_MS.length && member.theirs !== undefined) {
      const { reason } = this.status(member.peer)
      const isOther = reason !== member.reason
      member.reason = reason
      if (isOther) this.#components.onReason?.(member.peer)
    }
  }

  #run(member: Member, effect: PathEffect): void {
    const { theirs, peer } = member
    if (effect.type === 'use') {
      this.#components.log.debug('path to a peer', { peer, ...effect.path })
      if (effect.path === undefined) for (const tell of member.measuring) tell(undefined)
      this.#keepSome()
      return this.#components.onPath(peer)
    }
    const budget = effect.type === 'ping' ? this.#budget : member.answers
    if (theirs === undefined || !budget.take()) return
    const seal = { token: theirs.message.token, key: theirs.keys.send }
    const { type, to, nonce, length } = effect
    const probe =
      type === 'ping' ? { kind: type, nonce, length } : { kind: type, nonce, length, observed: to }
    const isSent = this.#send(to, encodeProbe(probe, seal))
    // later, as this is inside of a step
    if (!isSent && type === 'ping') {
      this.#components.clock.after(0, () => {
        if (this.#members.get(peer) === member) this.#step(member, { type: 'unsent', nonce })
      })
    }
  }

  #send(to: Endpoint, bytes: Uint8Array): boolean {
    return this.#components.engine.sendDatagram(to, bytes)
  }

  /** A few paths are kept without packets, as they tell how others see this socket. */
  #keepSome(): void {
    let kept = 0
    for (const { state } of this.#members.values()) {
      if (state.chosen === undefined) continue
      state.isKept = kept++ < KEPT_PATHS
    }
  }

  #reset(member: Member): void {
    const hadPath = usedPath(member.state) !== undefined
    member.cancelTick?.()
    member.state = createPathState(member.mtu, this.#components.clock.monotonic())
    if (hadPath) this.#components.onPath(member.peer)
  }

  #expectProbes(): void {
    this.#components.engine.expectDatagrams([...this.#byToken.values()].map(({ token }) => token))
  }

  #watch(): void {
    if (this.#cancelActivity !== undefined) return
    this.#own.start()
    const { clock } = this.#components
    const askActivity = () => {
      for (const peer of this.#components.engine.activePeers()) {
        const member = this.#members.get(peer)
        if (member?.theirs !== undefined) this.#step(member, { type: 'active' })
      }
      this.#cancelActivity = clock.after(ACTIVITY_MS, askActivity)
    }
    this.#cancelActivity = clock.after(ACTIVITY_MS, askActivity)
  }

  #unwatch(): void {
    this.#own.stop()
    this.#cancelActivity?.()
    this.#cancelActivity = undefined
  }

  candidates(): readonly Candidate[] {
    return this.#own.read()
  }

  /** Tells the peer, and searches at the same time as it will. */
  #tellSoon(member: Member): void {
    const { clock } = this.#components
    const minuteAgo = clock.monotonic() - 60_000
    member.toldAt = member.toldAt.filter((at) => at > minuteAgo)
    const waitMs = member.toldAt.length < QUICK_TELLS ? TELL_AFTER_MS : SLOW_TELL_MS
    member.cancelTell ??= clock.after(waitMs, () => {
      member.cancelTell = undefined
      this.#tell(member)
      if (member.theirs !== undefined && usedPath(member.state) === undefined) {
        this.#step(member, { type: 'moved' })
      }
    })
  }

  #tell({ peer, secret, token, toldAt }: Member): void {
    toldAt.push(this.#components.clock.monotonic())
    const message = { secret, token, candidates: this.#own.latest, varies: this.#own.seen.varies }
    this.#components.tell(peer, encodePaths(message))
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
