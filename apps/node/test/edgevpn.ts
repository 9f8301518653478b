/**
 * EdgeVPN nodes as processes, for the interop suites and for comparisons. `EDGEVPN_BIN` names a binary of EdgeVPN 0.35,
 * `EDGEVPN34_BIN` one of 0.34, which signs nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'

/** Undefined when EdgeVPN can be run here, else the reason why not and what to do. */
export function whyNoEdgevpn(): string | undefined {
  const binary = process.env['EDGEVPN_BIN']
  if (binary === undefined || binary === '') {
    return 'EDGEVPN_BIN names no EdgeVPN binary; `npm test` builds one where it can (CONTRIBUTING.md)'
  }
  return existsSync(binary) ? undefined : `EDGEVPN_BIN names no file: ${binary}`
}

/** A kind of EdgeVPN node. */
export interface EdgevpnProgram {
  readonly name: string
  readonly binary: string
  readonly environment?: Readonly<Record<string, string>>
}

/** EdgeVPN 0.35 as it is. */
const SIGNING: EdgevpnProgram = { name: 'EdgeVPN 0.35', binary: process.env['EDGEVPN_BIN'] ?? '' }

/** EdgeVPN 0.35 as it was before it signed entries. */
export const UNSIGNED_35: EdgevpnProgram = {
  ...SIGNING,
  name: 'EdgeVPN 0.35 with ownership off',
  environment: { EDGEVPNOWNERSHIP: 'off' },
}
/** The last EdgeVPN that signs nothing. */
export const UNSIGNED_34: EdgevpnProgram = {
  name: 'EdgeVPN 0.34',
  binary: process.env['EDGEVPN34_BIN'] ?? '',
}

/** Undefined when EdgeVPN 0.34 can be run here, else the reason why not. */
export function whyNoEdgevpn34(): string | undefined {
  const { binary } = UNSIGNED_34
  return existsSync(binary) ? undefined : 'EDGEVPN34_BIN names no binary of EdgeVPN 0.34'
}

export interface EdgevpnOptions {
  readonly token: string
  /** EdgeVPN 0.35 unless given. */
  readonly program?: EdgevpnProgram
  /** Of its HTTP API; loopback unless the prefix puts it in a namespace. */
  readonly apiPort: number
  readonly args?: readonly string[]
  /** Runs the VPN with this address (`10.1.0.3/24`) on interface `edgevpn0`; needs a namespace and root. */
  readonly vpnAddress?: string
  /** Words before the process: `['ip', 'netns', 'exec', 'a']`. */
  readonly prefix?: readonly string[]
}

export interface Edgevpn {
  readonly id: string
  readonly pid: number
  /** Where its API answers, for requests from the same namespace. */
  readonly url: string
  /** Status and parsed JSON; asked from inside its namespace. */
  ask(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ readonly status: number; readonly json: unknown }>
  stop(): Promise<void>
}

/** No public infrastructure, whatever the topology. */
export const PRIVATE_ARGS = [
  '--dht=false',
  '--natmap=false',
  '--autorelay=false',
  '--holepunch=false',
  '--natservice=false',
  '--relay-service=false',
]
const START_TIMEOUT_MS = 20_000

export interface EdgevpnCommand {
  readonly token: string
  /** EdgeVPN 0.35 unless given. */
  readonly program?: EdgevpnProgram
  /** What it runs: `['service-add', 'web', '127.0.0.1:80']`; a flag first runs the VPN. */
  readonly args: readonly string[]
  /** Further flags, which stand before positional arguments. */
  readonly flags?: readonly string[]
  /** Words before the process: `['ip', 'netns', 'exec', 'a']`. */
  readonly prefix?: readonly string[]
}

/** Runs one command of EdgeVPN, in a home of its own, until `stop`. */
export function runEdgevpn({ token, args, flags = [], prefix = [], program = SIGNING }: EdgevpnCommand): {
  readonly pid: number
  stop(): Promise<void>
} {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-edgevpn-'))
  // flags follow the command, where there is one
  const at = args[0]?.startsWith('--') === true ? 0 : 1
  const command = [...args.slice(0, at), ...PRIVATE_ARGS, ...flags, ...args.slice(at)]
  const [file = '', ...words] = [...prefix, program.binary, ...command]
  const child = spawn(file, words, {
    env: { PATH: process.env['PATH'], HOME: folder, EDGEVPNTOKEN: token, ...program.environment },
    stdio: 'ignore',
  })
  return {
    pid: child.pid ?? 0,
    async stop() {
      await end(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export async function startEdgevpn(options: EdgevpnOptions): Promise<Edgevpn> {
  const { prefix = [], args = [], apiPort, vpnAddress, token, program } = options
  const listen = `127.0.0.1:${apiPort}`
  const command =
    vpnAddress === undefined
      ? ['api', '--listen', listen]
      : ['--api', '--api-listen', listen, '--address', vpnAddress, '--interface', 'edgevpn0']
  const { pid, stop } = runEdgevpn({
    token,
    prefix,
    args: [...command, ...args],
    ...(program !== undefined && { program }),
  })
  const ask = (method: string, path: string, body?: unknown) =>
    askFrom(prefix, `http://${listen}${path}`, method, body)
  try {
    const summary = await eventually(
      async () => {
        const json = (await ask('GET', '/api/summary')).json as { readonly NodeID?: string }
        if (!json.NodeID) throw new Error('EdgeVPN does not know its id yet')
        return { NodeID: json.NodeID }
      },
      {
        withinMs: START_TIMEOUT_MS,
        everyMs: 100,
      },
    )
    return { id: summary.NodeID, pid, url: `http://${listen}`, ask, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGKILL')
  await gone
}

async function askFrom(prefix: readonly string[], url: string, method: string, body: unknown) {
  const text = body === undefined ? undefined : JSON.stringify(body)
  const { status, answer } =
    prefix.length === 0 ? await askHere(url, method, text) : await askInside(prefix, url, method, text)
  return { status, json: answer === '' ? undefined : (JSON.parse(answer) as unknown) }
}

function askHere(
  url: string,
  method: string,
  body: string | undefined,
): Promise<{ status: number; answer: string }> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' }
    const asked = request(url, { method, headers, agent: false, timeout: 30_000 }, (response) => {
      let answer = ''
      response.setEncoding('utf8').on('data', (part: string) => (answer += part))
      response.once('end', () => resolve({ status: response.statusCode ?? 0, answer }))
      response.once('error', reject)
    })
    asked.once('timeout', () => asked.destroy(new Error('no answer within 30 s')))
    asked.once('error', reject)
    asked.end(body)
  })
}

/** Loopback differs in each namespace: the request is made by a process inside. */
function askInside(prefix: readonly string[], url: string, method: string, body: string | undefined) {
  const [file = '', ...wrapping] = prefix
  const sent = body === undefined ? [] : ['-H', 'content-type: application/json', '--data', body]
  const words = [...wrapping, 'curl', '-sS', '-m30', '-X', method, '-w', '\n%{http_code}', ...sent, url]
  return new Promise<{ status: number; answer: string }>((resolve, reject) => {
    const child = spawn(file, words, { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
    child.once('error', reject)
    child.once('close', (code) => {
      const cut = out.lastIndexOf('\n')
      if (code !== 0) reject(new Error(`curl ended with ${code}`))
      else resolve({ status: Number(out.slice(cut + 1)), answer: out.slice(0, cut).trim() })
    })
  })
}
