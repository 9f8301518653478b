/**
 * `mesh ping MACHINE`: one line for each answer, with the way it came. Where access rules refuse this machine something of the
 * other one, a line says so at the end: an answer alone says that it is reached.
 */
import { type ApiClient, ApiError } from '@mesh/api-client'
import type { PeerPingView, VpnPingView } from '@mesh/api-contract'
import { printable, systemClock } from '@mesh/core'
import { EXIT } from '../../errors.ts'
import { printableJson } from '../../words/printable.ts'
import type { Call, Run } from '../command.ts'
import { findNode } from '../find-node.ts'

const INTERVAL_MS = 1_000

type Answer = VpnPingView | PeerPingView

export const runPing: Run = async (call) => {
  const { positionals, settings } = call
  const [machine = ''] = positionals
  const client = await findNode(call)
  const asked = new AbortController()
  // the first Ctrl-C ends it with what was learned so far
  process.once('SIGINT', () => asked.abort())
  let answers = 0
  let peer: string | undefined
  // the node tries all addresses when it is asked, and an answer tells of those that were tried before it
  if (settings.path)
    await ping(client, machine, asked.signal).then(
      () => pause(asked.signal),
      () => {},
    )
  for (let turn = 1; !asked.signal.aborted; turn++) {
    try {
      const answer = await ping(client, machine, asked.signal)
      answers++
      peer = answer.PeerID
      call.out(
        settings.json
          ? printableJson(answer)
          : `${formatPing(answer)}\n${settings.path ? formatPaths(answer) : ''}`,
      )
    } catch (error) {
      if (asked.signal.aborted) break
      if (!(error instanceof ApiError) || !UNREACHABLE.has(error.code)) throw error
      tellFailure(machine, error, call)
    }
    if (turn === settings.count) break
    await pause(asked.signal)
  }
  if (peer !== undefined && !settings.json) await noteRules(client, peer, call)
  return answers > 0 ? EXIT.ok.code : EXIT.failed.code
}

/** Notes what access rules let this node reach of the peer, where they do not let it reach everything. */
async function noteRules(client: ApiClient, peer: string, { note }: Call): Promise<void> {
  try {
    const [{ PeerID, Name }, { To, Everybody, Reached }] = await Promise.all([
      client.getNode(),
      client.listWhoReaches({ to: peer }),
    ])
    if (Everybody || PeerID === peer) return
    const words = Reached.filter(({ From }) => From.Word === PeerID).flatMap(({ On }) => On)
    if (words.includes('*')) return
    const own = Name === '' ? 'this node' : Name
    note(
      printable(
        words.length === 0
          ? `${own} may not reach ${To.Name}: no rule allows it (mesh rules who ${To.Name})`
          : `${own} may reach ${To.Name} on ${words.join(', ')} only`,
      ),
    )
  } catch (error) {
    // nodes of earlier versions have no rules
    if (!(error instanceof ApiError) || error.status !== 404) throw error
  }
}

const UNREACHABLE: ReadonlySet<string> = new Set(['vpn.unreachable', 'peer.unreachable'])
/** No VPN here, or the peer has none. */
const WITHOUT_VPN: ReadonlySet<string> = new Set(['vpn.not_running', 'vpn.unknown_machine'])

/** Pings through the VPN, as packets go; a peer that it does not have, over libp2p. */
async function ping(client: ApiClient, machine: string, signal: AbortSignal): Promise<Answer> {
  try {
    return await client.pingMachine({ machine }, { signal })
  } catch (error) {
    if (!(error instanceof ApiError) || !WITHOUT_VPN.has(error.code)) throw error
    return client.pingPeer({ peer: machine }, { signal }).catch((second: unknown) => {
      const isNoAnswer = second instanceof ApiError && second.code === 'http.not_found'
      // the VPN knows its machines better, and nodes of earlier versions know no such request
      const isFirstBetter = error.code === 'vpn.unknown_machine' && isUnknownPeer(second)
      throw isNoAnswer || isFirstBetter ? error : second
    })
  }
}

function isUnknownPeer(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'peer.unknown'
}

/** One line for people. */
export function formatPing(answer: Answer): string {
  return printable('MTU' in answer ? formatMachine(answer) : formatPeer(answer))
}

/** Prints a pong of libp2p, `laptop (12D3KooW…) by direct tcp: 1.9 ms, over libp2p` */
function formatPeer({ Name, PeerID, Path, Transport, RoundTripMs, Member }: PeerPingView): string {
  const name = Name === '' ? PeerID : `${Name} (${PeerID})`
  const stranger = Member ? '' : ', not proven a member'
  return `${name} by ${Path} ${Transport ?? 'connection'}: ${RoundTripMs.toFixed(1)} ms, over libp2p${stranger}`
}

/** Prints a pong of the VPN, `laptop (10.1.0.12) by direct tcp: 1.9 ms, MTU 1280` */
function formatMachine({ Hostname, Address, PeerID, ...measured }: VpnPingView): string {
  const { Way, Path, Transport, RoundTripMs, MTU } = measured
  const address = Address === '' ? PeerID : Address
  const name = Hostname === '' ? address : `${Hostname} (${address})`
  const way = [Path, Transport ?? 'connection', ...(Way === 'plain' ? ['unsealed'] : [])].join(' ')
  return `${name} by ${way}: ${RoundTripMs.toFixed(1)} ms, MTU ${MTU}`
}

/** Lists what is known of each address over UDP, and why packets do not go so where they do not. */
function formatPaths(answer: Answer): string {
  if (!('UDP' in answer)) return ''
  const { State, Reason, Endpoint, Candidates } = answer.UDP
  const verdict = Reason === null ? `over UDP, ${State}: ${Endpoint}` : `not over UDP: ${UDP_REASONS[Reason]}`
  const lines = Candidates.map(({ Endpoint: to, Kind, Answered, Heard, RoundTripMs, MTU }) => {
    const outcome = Answered
      ? `answered in ${RoundTripMs?.toFixed(1) ?? '?'} ms, MTU ${MTU === 0 ? 'not known' : MTU}`
      : `no answer${Heard ? ', but its probes come' : ''}`
    return `  ${to} (${Kind}): ${outcome}`
  })
  return `${[verdict, ...lines].map(printable).join('\n')}\n`
}

/** The reasons for which packets do not go over UDP, for people. */
const UDP_REASONS: Readonly<Record<NonNullable<VpnPingView['UDP']['Reason']>, string>> = {
  off: 'it is switched off here (--no-udp)',
  unsupported: 'the machine does not offer it',
  searching: 'its addresses are being tried',
  blocked: 'no probe of it arrived here, and ours are not answered; a firewall may block UDP',
  'one-way': 'its probes arrive here, ours are not answered; a firewall blocks UDP in one direction',
  'both-vary': 'both NATs choose a port for each peer, so that neither can be told beforehand',
  'one-varies':
    'one NAT chooses a port for each peer, and the other lets in only the ports that its machine sent to',
  'same-nat':
    'both are behind one NAT, no probe arrived by their own addresses (as in a network that keeps its clients apart), and the NAT leads none back in',
  'too-small': 'packets of 1280 bytes do not pass',
  'too-slow': 'probes are answered, but after more than a second',
  idle: 'no packets needed it for long',
}

/** Waits until the next measurement, or the end. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = systemClock.after(INTERVAL_MS, end, { keepAlive: true })
    signal.addEventListener('abort', end)
  })
}

function tellFailure(machine: string, { code, message }: ApiError, { settings, out, note }: Call): void {
  if (settings.json) out(printableJson({ Code: code, Message: message }))
  else note(printable(`no answer from ${machine}: ${message}`))
}
