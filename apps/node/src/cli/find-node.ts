/** Finds the running node that a command asks: by --api-url, or by the control sockets of this machine. */
import { isAbsolute, resolve } from 'node:path'
import { type ApiClient, ApiError, type ClientOptions } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import { MeshError, toError } from '@mesh/core'
import { lookUpHost } from '../look-up-host.ts'
import { stateFolder } from '../settings/load-settings.ts'
import type { Settings } from '../settings/options.ts'
import { findControlSockets } from '../state/instance-folder.ts'
import { readNetwork } from '../state/network.ts'
import type { Call } from './command.ts'

/** A node on this machine answers at once, or not at all. */
const PROBE_TIMEOUT_MS = 2_000
/** How long the host that --api-url names may take to be found, and then to say that it is there, in ms each. */
const REMOTE_PROBE_TIMEOUT_MS = 10_000

/** How long each question may take with all its tries, and how many there are. */
type Patience = Pick<ClientOptions, 'timeoutMs' | 'retries'>

/**
 * Gives a node that has answered. A token goes to `--api-url` alone: the control socket asks for none.
 * @param patience as the client has it unless given
 * @throws MeshError `node.not_running`, `node.several_running`, `node.bad_token_file`, `client.unreachable`
 */
export async function findNode(call: Call, patience: Patience = {}): Promise<ApiClient> {
  const { settings, sources, surroundings, base } = call
  if (settings.apiUrl !== undefined) {
    const token = await tokenToSend(settings)
    const baseUrl = absoluteUrl(settings.apiUrl, base)
    await checkAnswering(baseUrl)
    return createNodeClient({ ...patience, baseUrl, ...(token !== undefined && { token }) })
  }
  const isNamed = sources.instance.level !== 'default'
  const found = await askInstances(call, (instance) => !isNamed || instance === settings.instance)
  const running = found.filter(({ state }) => state === 'answers')
  const stateDir = stateFolder(settings, surroundings)
  const preferred = running.filter(({ instance }) => instance === settings.instance)
  const [node, second] = running.length > 1 && preferred.length === 1 ? preferred : running
  const silent = found.find(({ state }) => state === 'silent')
  if (node === undefined && silent !== undefined) {
    throw new MeshError(
      'node.not_running',
      `a node is there (instance ${silent.instance}) and does not answer`,
      {
        hint: 'It is suspended, just ending, too busy, or has no free file descriptor: look at its log, and restart it if that goes on.',
      },
    )
  }
  if (node === undefined) {
    const [other] = await findForeign(call)
    if (other !== undefined) {
      throw new MeshError('node.not_running', 'no node of the network that is named is running here', {
        hint: `One of network ${other.networkId} is: leave out the token to ask it; to have it join the one that is named, restart it with that token.`,
      })
    }
    throw new MeshError('node.not_running', 'no node is running here', {
      hint: `Start one with \`mesh\`, \`mesh api\` or \`mesh start\`, or ask another with --api-url (looked in ${stateDir}; root's nodes answer root).`,
    })
  }
  if (second === undefined) return createNodeClient({ ...patience, baseUrl: `unix://${node.socket}` })
  throw new MeshError('node.several_running', `${running.length} nodes are running here`, {
    hint: [
      'Say which one:',
      ...running.map(({ instance, socket }) => `    --instance ${instance}  or  --api-url unix://${socket}`),
    ].join('\n'),
  })
}

/** The nodes that run here in other networks than the one that the settings name. */
async function findForeign({ settings, surroundings }: Call): Promise<readonly Found[]> {
  const network = readNetwork(settings)
  if (network === undefined) return []
  const found = findControlSockets(stateFolder(settings, surroundings))
  const asked = await askAll(found.filter(({ networkId }) => networkId !== network.id))
  return asked.filter(({ state }) => state === 'answers')
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
  const found = await askInstances(call, (instance) => instance === settings.instance)
  const running = found.filter(({ state }) => state === 'answers')
  const [node, second] = running
  if (node === undefined) return undefined
  if (second === undefined) {
    return { client: createNodeClient({ baseUrl: `unix://${node.socket}` }), networkId: node.networkId }
  }
  throw new MeshError('node.several_running', `nodes of ${running.length} networks are running here`, {
    hint: 'Say which network is meant, with --token-file or --config; or --own-node, for a node of its own.',
  })
}

/** @throws MeshError `node.not_running` where nobody answers in time, ApiError `client.unreachable` where nobody can */
async function checkAnswering(baseUrl: string): Promise<void> {
  const { protocol, hostname } = URL.canParse(baseUrl) ? new URL(baseUrl) : { protocol: '', hostname: '' }
  if (protocol === 'http:' || protocol === 'https:') await checkHost(hostname)
  try {
    await createNodeClient({ baseUrl, timeoutMs: REMOTE_PROBE_TIMEOUT_MS }).getLiveness()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'client.timeout') {
      const message = `nothing answers at ${baseUrl} within ${REMOTE_PROBE_TIMEOUT_MS / 1_000} s`
      const hint =
        'The node is suspended or too busy, or a firewall drops what is sent to it: look at its log, and check the address.'
      throw new MeshError('node.not_running', message, { hint })
    }
    // whatever it answers, somebody is there: the question itself is told what is wrong
    if (error.status === 0) throw error
  }
}

async function checkHost(hostname: string): Promise<void> {
  try {
    await lookUpHost(hostname, REMOTE_PROBE_TIMEOUT_MS)
  } catch (error) {
    throw new MeshError('node.not_running', toError(error).message, {
      hint: 'Name the node by its IP address, or mend the DNS of this machine first: `mesh doctor` looks at it.',
    })
  }
}

/** The commands that need no file of tokens do without the code that reads one. */
async function tokenToSend({ apiToken, apiTokenFile }: Settings): Promise<string | undefined> {
  if (apiToken !== undefined || apiTokenFile === undefined) return apiToken
  const { readTokenToSend } = await import('../state/api-tokens.ts')
  return readTokenToSend(apiTokenFile)
}

type Found = ReturnType<typeof findControlSockets>[number] & {
  /** `silent`: something took the connection and did not answer; `gone`: nobody is there any more. */
  readonly state: 'answers' | 'silent' | 'gone'
}

async function askInstances(
  { settings, surroundings }: Call,
  isMeant: (instance: string) => boolean,
): Promise<readonly Found[]> {
  const network = readNetwork(settings)
  const candidates = findControlSockets(stateFolder(settings, surroundings)).filter(
    (found) => (network === undefined || found.networkId === network.id) && isMeant(found.instance),
  )
  return await askAll(candidates)
}

async function askAll(sockets: ReturnType<typeof findControlSockets>): Promise<readonly Found[]> {
  return await Promise.all(sockets.map(async (found) => ({ ...found, state: await stateOf(found.socket) })))
}

async function stateOf(socket: string): Promise<Found['state']> {
  const client = createNodeClient({ baseUrl: `unix://${socket}`, timeoutMs: PROBE_TIMEOUT_MS, retries: 0 })
  return client.getLiveness().then(
    () => 'answers',
    (error: unknown) => (wasTaken(error) ? 'silent' : 'gone'),
  )
}

/** Somebody took the connection: it was closed without an answer, or nothing came for long. */
function wasTaken(error: unknown): boolean {
  if (error instanceof ApiError && error.code === 'client.timeout') return true
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && (cause.code === 'EPIPE' || cause.code === 'ECONNRESET')) return true
  }
  return false
}

function absoluteUrl(url: string, base: string): string {
  const path = /^unix:\/\/(.+)$/.exec(url)?.[1]
  return path === undefined || isAbsolute(path) ? url : `unix://${resolve(base, path)}`
}
