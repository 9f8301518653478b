/** Finds the running node that a command asks: by --api-url, or by the control sockets of this machine. */
import { isAbsolute, resolve } from 'node:path'
import type { ApiClient } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import { MeshError } from '@mesh/core'
import { stateFolder } from '../settings/load-settings.ts'
import type { Settings } from '../settings/options.ts'
import { findControlSockets } from '../state/instance-folder.ts'
import { readNetwork } from '../state/network.ts'
import type { Call } from './command.ts'

/** A node on this machine answers at once, or not at all. */
const PROBE_TIMEOUT_MS = 2_000

/**
 * A token goes to `--api-url` alone: the control socket asks for none.
 * @throws MeshError `node.not_running`, `node.several_running`, `node.bad_token_file`
 */
export async function findNode(call: Call): Promise<ApiClient> {
  const { settings, sources, surroundings, base } = call
  if (settings.apiUrl !== undefined) {
    const token = await tokenToSend(settings)
    return createNodeClient({
      baseUrl: absoluteUrl(settings.apiUrl, base),
      ...(token !== undefined && { token }),
    })
  }
  const isNamed = sources.instance.level !== 'default'
  const running = await findRunning(call, (instance) => !isNamed || instance === settings.instance)
  const stateDir = stateFolder(settings, surroundings)
  const preferred = running.filter(({ instance }) => instance === settings.instance)
  const [node, second] = running.length > 1 && preferred.length === 1 ? preferred : running
  if (node === undefined) {
    throw new MeshError('node.not_running', 'no node is running here', {
      hint: `Start one with \`mesh\`, \`mesh api\` or \`mesh start\`, or ask another with --api-url (looked in ${stateDir}; root's nodes answer root).`,
    })
  }
  if (second === undefined) return createNodeClient({ baseUrl: `unix://${node.socket}` })
  throw new MeshError('node.several_running', `${running.length} nodes are running here`, {
    hint: [
      'Say which one:',
      ...running.map(({ instance, socket }) => `    --instance ${instance}  or  --api-url unix://${socket}`),
    ].join('\n'),
  })
}

/**
 * The node that this machine runs for all its purposes (`mesh`, `mesh api` or `mesh start`), in the network that the
 * settings name, or in any; undefined: none runs. Nodes that a command runs for itself are none of these.
 * @throws MeshError `node.several_running`
 */
export async function findCommonNode(
  call: Call,
): Promise<{ readonly client: ApiClient; readonly networkId: string } | undefined> {
  const { settings } = call
  const running = await findRunning(call, (instance) => instance === settings.instance)
  const [node, second] = running
  if (node === undefined) return undefined
  if (second === undefined) {
    return { client: createNodeClient({ baseUrl: `unix://${node.socket}` }), networkId: node.networkId }
  }
  throw new MeshError('node.several_running', `nodes of ${running.length} networks are running here`, {
    hint: 'Say which network is meant, with --token-file or --config; or --own-node, for a node of its own.',
  })
}

/** The commands that need no file of tokens do without the code that reads one. */
async function tokenToSend({ apiToken, apiTokenFile }: Settings): Promise<string | undefined> {
  if (apiToken !== undefined || apiTokenFile === undefined) return apiToken
  const { readTokenToSend } = await import('../state/api-tokens.ts')
  return readTokenToSend(apiTokenFile)
}

async function findRunning(
  { settings, surroundings }: Call,
  isMeant: (instance: string) => boolean,
): Promise<ReturnType<typeof findControlSockets>> {
  const network = readNetwork(settings)
  const candidates = findControlSockets(stateFolder(settings, surroundings)).filter(
    (found) => (network === undefined || found.networkId === network.id) && isMeant(found.instance),
  )
  const answers = await Promise.all(candidates.map(({ socket }) => doesAnswer(socket)))
  return candidates.filter((_, index) => answers[index])
}

async function doesAnswer(socket: string): Promise<boolean> {
  const client = createNodeClient({ baseUrl: `unix://${socket}`, timeoutMs: PROBE_TIMEOUT_MS, retries: 0 })
  return client.getLiveness().then(
    () => true,
    () => false,
  )
}

function absoluteUrl(url: string, base: string): string {
  const path = /^unix:\/\/(.+)$/.exec(url)?.[1]
  return path === undefined || isAbsolute(path) ? url : `unix://${resolve(base, path)}`
}
