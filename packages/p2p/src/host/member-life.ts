/** A member's life: how its parts start, join and stop. */
import { MeshError } from '@mesh/core'
import type { Find } from '../discovery/find.ts'
import { PeerExchange } from '../discovery/peer-exchange.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { answerPings } from '../libp2p/answer-pings.ts'
import { boundIdentify } from '../libp2p/inbound-rates.ts'
import { describeDialError } from '../libp2p/describe-dial-error.ts'
import { describeListenError } from '../libp2p/describe-listen-error.ts'
import { startPingMonitor } from '../libp2p/ping-monitor.ts'
import type { P2pComponents } from '../p2p-components.ts'
import { identifyAgain } from '../peers/identify-again.ts'
import { watchConnections } from '../peers/watch-connections.ts'
import { endLateTimers } from '../upstream/libp2p/late-timers.ts'
import { enforceAdmission } from './enforce-admission.ts'
import { enforcePairs } from './enforce-pairs.ts'
import type { Given, MemberParts } from './member-parts.ts'

/** Makes the host listen and starts its parts; what takes longer joins afterwards. Gives what stops all of it. */
export async function startParts(
  given: Given & MemberParts,
  components: P2pComponents,
): Promise<{ readonly joined: Promise<unknown>; readonly stop: () => Promise<void> }> {
  const { init, host, topic, book, reach, bootstrap, configured } = given
  const stopWatching = watchConnections({ host, checks: given.checks, emit: given.events.tell })
  await given.membership.start()
  const stopGate =
    init.admission === undefined ? () => {} : enforceAdmission(init.admission, given, components.clock)
  const stopPairs = init.pairs === undefined ? () => {} : enforcePairs(init.pairs, host)
  await startListening(host)
  const endTimers = endLateTimers(host)
  const { registrar } = host.services.parts.components
  await answerPings(registrar, components.clock)
  await boundIdentify(registrar, components.clock)
  await topic.start()
  await given.bulk?.start()
  await given.pathReports.start()
  const onRtt = (peer: string, rttMs: number) => book.noteRtt(peer, rttMs)
  const isRelay = (peer: string) => reach.relays().includes(peer)
  const stopPings = startPingMonitor({ host, onRtt, isRelay }, { ...components, checks: given.checks })
  const stopIdentifying = identifyAgain({ host, spoken: given.spoken, ...components })
  for (const find of bootstrap) reach.found(configured, find)
  const isExchanging = init.peerExchange !== false
  const method = given.methods.open('members', isExchanging)
  const found = (find: Find) => {
    if (given.platform.isLeaf !== true) reach.found(method, find)
  }
  const exchange = new PeerExchange({ ...given, name: init.name, found }, components)
  if (isExchanging) await exchange.start()
  const joined = joinPlatform(given, exchange, components)
  async function stop(): Promise<void> {
    exchange.stop()
    reach.stop()
    stopWatching()
    stopGate()
    stopPairs()
    stopPings()
    given.stopChecks()
    stopIdentifying()
    await (await joined)()
    await stopMember(given)
    endTimers()
  }
  return { joined, stop }
}

async function joinPlatform(
  given: Given & MemberParts,
  exchange: PeerExchange,
  components: P2pComponents,
): Promise<() => Promise<void>> {
  try {
    return await given.platform.join({
      ...components,
      ...given,
      dialOne: (address, signal) => given.dials.dialOne(address, signal),
      dialFound: (...asked) => given.dials.dialFound(...asked),
      dialFor: (peer, dial) => given.guard.dialFor(peer, dial),
      stunPorts: exchange.stunPorts,
      setEndReservation: (end) => void (given.view.endReservation = end),
      setStunPort: (port) => exchange.setStunPort(port),
    })
  } catch (error) {
    components.logger.error('host incomplete', { reason: String(error) })
    return async () => {}
  }
}

async function stopMember(given: Given & MemberParts): Promise<void> {
  given.guard.stop()
  given.bulk?.stop()
  given.pathReports.stop()
  given.channels.stop()
  await given.streams.stop()
  await given.topic.stop()
  await given.membership.stop()
  await given.host.stop()
  given.book.stop()
  given.paths.stop()
  given.spoken.stop()
  given.events.clear()
}

async function startListening(host: MeshHost): Promise<void> {
  try {
    await host.start()
  } catch (cause) {
    const known = describeListenError(cause)
    if (known !== undefined) throw new MeshError('p2p.cannot_listen', known.message, { hint: known.hint })
    throw new MeshError('p2p.cannot_listen', `cannot listen: ${describeDialError(cause)}`, {
      cause,
      hint: 'Choose other listen addresses, or stop what uses these.',
    })
  }
}
