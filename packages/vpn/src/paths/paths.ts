/**
 * The paths to peers over UDP.
 *
 * 1. Both ends send their candidates over the control stream.
 * 2. Probes go through the engine's socket (`probe-message.ts`) into one state machine for each peer (`step.ts`).
 * 3. The chosen path stands in the engine's table.
 *
 * Until there is one, and when it fails, the stream carries the packets.
 */
import { type PeerId, tryParseIp, untilAborted } from '@mesh/core'
import { loopBudget } from '@mesh/core/limits'
import type { Datagram } from '@mesh/engine'
import { encodePaths, type PathsMessage } from '../wire/control-message.ts'
import { believedCandidates, isCandidateAddress } from './candidates.ts'
import { explain, natsOf, noPath, type NoPathReason, type UdpStatus } from './explain.ts'
import {
  ACTIVITY_MS,
  ASK_WITNESSES_MS,
  KEPT_PATHS,
  PATH_SECRET_BYTES,
  PATH_TOKEN_BYTES,
  ROUNDS_MS,
  WATCHED_UNUSED_PATHS,
} from './limits.ts'
import { CandidateTeller } from './candidate-teller.ts'
import { type PathEnds, pathKey } from './known-paths.ts'
import { OwnSockets } from './own-sockets.ts'
import {
  createPathState,
  type PathEffect,
  type PathInput,
  type PathState,
  type UdpPath,
} from './path-state.ts'
import type { Candidate } from '../wire/control-message.ts'
import { ProbeSender, type ProbeSource } from './probe-sender.ts'
import { decodeProbe, drawProbeNonce, type Pong, probeToken } from './probe-message.ts'
import type { ControlEnds, PathsComponents, PathsInit } from './paths-init.ts'
import { deriveProbeKeys, hexOf, type ProbeKeys } from '../keys/secrets.ts'
import { step, usedPath, wakeAt } from './step.ts'
import { WatchedCandidates } from './watched-candidates.ts'

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
  /** Itself, and where its control channel came from last, for bounds. */
  from: ProbeSource
  readonly teller: CandidateTeller
  cancelTick: (() => void) | undefined
}

export class Paths {
  readonly #init: PathsInit
  readonly #components: PathsComponents
  readonly #members = new Map<PeerId, Member>()
  /** The members by the token, in hex, that their probes name. */
  readonly #byToken = new Map<string, Member>()
  readonly #sockets: OwnSockets
  readonly #own: WatchedCandidates
  readonly #probes: ProbeSender
  #isReading = false
  /** When witnesses were asked last beside what is due. */
  #askedAt = Number.NEGATIVE_INFINITY
  #cancelActivity: (() => void) | undefined
  #stopped = false

  constructor(init: PathsInit, given: PathsComponents) {
    const components = { ...given, log: given.log.child('paths') }
    this.#init = init
    this.#components = components
    this.#sockets = new OwnSockets({
      ...components,
      isNeeded: () => [...this.#members.values()].some(({ state }) => state.chosen?.isThroughNat === true),
      onCurrent: (current) => this.#stepAll({ type: 'socket', current }),
      onClosed: (socket) => this.#stepAll({ type: 'closed', socket }),
    })
    this.#own = new WatchedCandidates(init, {
      ...components,
      sockets: this.#sockets,
      onChange: () => {
        for (const { teller } of this.#members.values()) teller.tellSoon()
        this.#askWitnesses()
      },
    })
    this.#probes = new ProbeSender(components)
  }

  /** A control channel with a peer of the table stands. */
  open(peer: PeerId, { mtu, address }: ControlEnds): void {
    if (this.#stopped || this.#components.engine.udpPort === undefined) return
    const known = this.#members.get(peer)
    const from = { peer, ...(address !== undefined && { address }) }
    if (known?.mtu === mtu) {
      known.from = from
      return known.teller.reopened()
    }
    if (known !== undefined) this.forget(peer)
    const { random, clock } = this.#components
    const member: Member = {
      peer,
      mtu,
      secret: random.bytes(PATH_SECRET_BYTES),
      token: random.bytes(PATH_TOKEN_BYTES),
      theirs: undefined,
      state: this.#newState(mtu),
      measuring: new Set(),
      reason: undefined,
      from,
      teller: new CandidateTeller({
        tell: () => this.#tell(member),
        onChangeTold: () => this.#searchToo(member),
        clock,
      }),
      cancelTick: undefined,
    }
    this.#members.set(peer, member)
    this.#byToken.set(hexOf(member.token), member)
    this.#watch()
    member.teller.tell()
  }

  /** The peer told how its socket can be reached. */
  told(peer: PeerId, message: PathsMessage): void {
    const member = this.#members.get(peer)
    const isRight = message.secret.length === PATH_SECRET_BYTES && message.token.length === PATH_TOKEN_BYTES
    if (member === undefined || !isRight) return
    const before = member.theirs
    const isSame = before !== undefined && hexOf(before.message.secret) === hexOf(message.secret)
    if (before !== undefined && !isSame) this.#reset(member)
    const secrets = { own: member.secret, theirs: message.secret }
    const keys = isSame ? before.keys : deriveProbeKeys({ self: this.#init.self, peer }, secrets)
    member.theirs = { message, keys }
    this.#expectProbes(member)
    this.#step(member, { type: 'candidates', candidates: this.#believed(message) })
  }

  /** The peer is no peer of the table any more, or has another key. */
  forget(peer: PeerId): void {
    const member = this.#members.get(peer)
    if (member === undefined) return
    const hadPath = usedPath(member.state) !== undefined
    member.cancelTick?.()
    member.teller.stop()
    for (const tell of member.measuring) tell(undefined)
    this.#members.delete(peer)
    this.#byToken.delete(hexOf(member.token))
    this.#components.engine.forgetProbes(member.token)
    this.#sockets.forget(peer)
    if (this.#members.size === 0) this.#unwatch()
    if (hadPath && !this.#stopped) this.#components.onPath(peer)
  }

  /** The engine's event `datagrams`. */
  datagrams(): void {
    if (this.#isReading) return
    this.#isReading = true
    loopBudget(this.#components.clock).walk('members', this.#readDatagrams(), () => (this.#isReading = false))
  }

  *#readDatagrams(): Generator<void, void> {
    const { engine } = this.#components
    for (let taken = engine.takeDatagrams(); taken.length > 0; taken = engine.takeDatagrams()) {
      for (const datagram of taken) {
        if (this.#stopped) return
        this.#receive(datagram)
        yield
      }
    }
  }

  /** There is another engine, with another socket. */
  restart(): void {
    for (const member of this.#members.values()) this.#expectProbes(member)
    this.#sockets.restart()
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
    const { message } = member.theirs
    const nats = natsOf(this.#sockets.seen, this.#own.latest, message)
    return explain(member.state, nats, this.#components.clock.monotonic())
  }

  /**
   * Measures the round trip on the path in use, in ms; undefined: there is none, or it broke meanwhile. All other addresses
   * of the peer are probed, too, for `status`: what does not answer within a second is told as such.
   */
  async measure(peer: PeerId, signal: AbortSignal): Promise<number | undefined> {
    const member = this.#members.get(peer)
    if (member?.theirs === undefined) return undefined
    const hasPath = member.state.chosen !== undefined
    const measured = Promise.withResolvers<number | undefined>()
    if (hasPath) member.measuring.add(measured.resolve)
    try {
      this.#step(member, { type: 'try' })
      if (!hasPath) return undefined
      return await untilAborted(measured.promise, signal)
    } finally {
      member.measuring.delete(measured.resolve)
    }
  }

  stop(): void {
    this.#stopped = true
    for (const peer of this.#members.keys()) this.forget(peer)
    this.#unwatch()
    this.#sockets.stop()
  }

  #receive({ from, socket, length, bytes }: Datagram): void {
    const token = probeToken(bytes)
    const member = token === undefined ? undefined : this.#byToken.get(token)
    const address = tryParseIp(from.address)
    if (member?.theirs === undefined || address === undefined) return
    // a probe that went through the VPN proves a way that leads through itself
    if (!isCandidateAddress(address, this.#init.vpnRanges())) return
    const probe = decodeProbe(bytes, length, member.theirs.keys.receive)
    if (probe === undefined) return
    const source = { address, port: from.port }
    if (probe.kind === 'ping') return this.#step(member, { ...probe, type: 'ping', from: source, socket })
    this.#answered(member, probe, { endpoint: source, socket })
  }

  #answered(member: Member, { nonce, observed }: Pong, ends: PathEnds): void {
    const { socket, endpoint } = ends
    const isOwn = this.#own.isOwn(observed, socket)
    const { is } = this.#sockets.learn({ witness: member.peer, socket, endpoint: observed, isOwn })
    if (is !== 'same') this.#own.look()
    if (is === 'other') {
      this.#stepAll({ type: 'remapped', socket })
      this.#components.onRemapped?.(member.peer)
    }
    const { chosen } = member.state
    const asked = chosen?.key === pathKey(ends) && chosen.sent.find((each) => each.nonce === nonce)
    if (asked) for (const tell of member.measuring) tell(this.#components.clock.monotonic() - asked.at)
    this.#step(member, { type: 'pong', from: endpoint, socket, nonce, isSeenAsOwn: isOwn })
  }

  #stepAll(input: PathInput): void {
    for (const member of this.#members.values()) this.#step(member, input)
  }

  #newState(wantedMtu: number): PathState {
    const { current } = this.#sockets
    const { clock, random } = this.#components
    const drawNonce = () => drawProbeNonce(random)
    const isWatched = this.#members.size < WATCHED_UNUSED_PATHS
    return createPathState({ wantedMtu, current, drawNonce, isWatched }, clock.monotonic())
  }

  #step(member: Member, input: PathInput): void {
    const { clock } = this.#components
    for (const effect of step(member.state, input, clock.monotonic())) this.#run(member, effect)
    this.#tellReason(member)
    member.cancelTick?.()
    const now = clock.monotonic()
    const at = wakeAt(member.state, now)
    member.cancelTick = Number.isFinite(at) ? clock.after(at - now, () => this.#tick(member)) : undefined
  }

  /** A probe is not lost whose answer is there and was not taken, as this process was held up. */
  #tick(member: Member): void {
    this.datagrams()
    if (this.#members.get(member.peer) === member) this.#step(member, { type: 'tick' })
  }

  /** Tells once why a search found nothing. */
  #tellReason(member: Member): void {
    const { chosen, round } = member.state
    if (chosen !== undefined) member.reason = undefined
    else if (round >= ROUNDS_MS.length && member.theirs !== undefined) {
      const { reason } = this.status(member.peer)
      // which it is again and again, to find the same
      if (reason === 'searching') return
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
      if (effect.path?.alsoStream !== false) this.#askWitnesses(member)
      return this.#components.onPath(peer)
    }
    if (theirs === undefined) return
    const seal = { token: theirs.message.token, key: theirs.keys.send }
    if (this.#probes.send(effect, member.from, seal)) return
    const { nonce } = effect
    // later, as this is inside of a step
    this.#components.clock.after(0, () => {
      if (this.#members.get(peer) === member) this.#step(member, { type: 'unsent', nonce })
    })
  }

  /** A few paths are kept without packets, as they tell how others see this socket. */
  #keepSome(): void {
    let kept = 0
    for (const { state } of this.#members.values()) {
      if (state.chosen === undefined) continue
      state.isKept = kept++ < KEPT_PATHS
    }
  }

  /**
   * Asks the kept peers how they see this node. A path is in doubt or this node has other addresses, so its NAT may have another
   * mapping, or be another NAT.
   */
  #askWitnesses(member?: Member): void {
    const { clock } = this.#components
    const now = clock.monotonic()
    if (now - this.#askedAt < ASK_WITNESSES_MS) return
    this.#askedAt = now
    // later, as this is inside of a step
    clock.after(0, () => {
      for (const each of this.#members.values())
        if (each !== member && each.state.isKept) this.#step(each, { type: 'measure' })
    })
  }

  #reset(member: Member): void {
    const hadPath = usedPath(member.state) !== undefined
    member.cancelTick?.()
    member.state = this.#newState(member.mtu)
    if (hadPath) this.#components.onPath(member.peer)
  }

  #expectProbes({ token, theirs }: Member): void {
    if (theirs === undefined) return
    const { message, keys } = theirs
    const endpoints = this.#believed(message).map(({ endpoint }) => endpoint)
    const pair = { token, theirToken: message.token, key: keys.receive, endpoints }
    this.#components.engine.expectProbes(pair)
  }

  #believed({ candidates }: PathsMessage): readonly Candidate[] {
    return believedCandidates(candidates, this.#init.vpnRanges())
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

  /** Where this node's socket may be reached, as it is now. */
  candidates(): readonly Candidate[] {
    return this.#own.readOwn()
  }

  #tell({ peer, secret, token }: Member): void {
    const { varies } = this.#sockets.seen
    const message = { secret, token, candidates: this.#own.latest, varies }
    this.#components.tell(peer, encodePaths(message))
  }

  /** This end searches at the same time as the peer will, which was told something new. */
  #searchToo(member: Member): void {
    const needsPath = member.theirs !== undefined && usedPath(member.state) === undefined
    if (needsPath) this.#step(member, { type: 'moved' })
  }
}
