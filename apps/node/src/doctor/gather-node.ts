/** Asks the running node for what the doctor judges, and tries the ports that it listens on. */
import { formatPlace } from '../words/format-place.ts'
import { connect } from 'node:net'
import { type ApiClient, ApiError } from '@mesh/api-client'
import { type Clock } from '@mesh/core'
import type { NodeFacts } from './facts.ts'
import { tried } from './tried.ts'

/** How many of its addresses are tried. */
const MAX_TRIED = 16

/** @param isHere the node runs on this machine, so that its own addresses can be tried */
export async function gatherNode(client: ApiClient, isHere: boolean, clock: Clock): Promise<NodeFacts> {
  const [node, health, peers, machines, reachability, vpn, dns, rules] = await Promise.all([
    client.getNode(),
    client.getHealth(),
    client.listPeers(),
    client.listMachines(),
    unlessRefused(client.getReachability()),
    unlessRefused(client.getVpn()),
    unlessRefused(client.getDnsServer()),
    unlessRefused(client.getRules()),
  ])
  const places = isHere ? (reachability?.Addresses ?? []).flatMap(tcpPlace).slice(0, MAX_TRIED) : undefined
  const answering =
    places === undefined
      ? undefined
      : await Promise.all(
          places.map(async ({ host, port }) => ({
            address: formatPlace(host, port),
            tried: await tried(() => dial(host, port), clock),
          })),
        )
  return { node, health, peers, machines, reachability, vpn, dns, rules, answering }
}

/** Undefined where the node has none of it, is not ready, or is older than the question. */
async function unlessRefused<View>(asked: Promise<View>): Promise<View | undefined> {
  try {
    return await asked
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 503)) return undefined
    throw error
  }
}

/** Host and port of a plain TCP address of the node itself. */
function tcpPlace(address: string): { readonly host: string; readonly port: number }[] {
  const [, host, port] = /^\/ip[46]\/([^/]+)\/tcp\/(\d+)(?:\/p2p\/[^/]+)?$/.exec(address) ?? []
  return host === undefined ? [] : [{ host, port: Number(port) }]
}

function dial(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}
