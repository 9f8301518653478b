/**
 * Network namespaces as test hosts: each has its own interfaces, and all traffic stays on this machine.
 * Names carry the process and thread id, so that parallel runs do not meet; `close()` removes all.
 */
import { spawnSync } from 'node:child_process'
import { threadId } from 'node:worker_threads'

/** Tells this worker's namespaces from those of others, be they processes or threads. */
const WORKER = `${process.pid}t${threadId}`

export interface Lab {
  /** The namespace's full name. */
  name(host: string): string
  /** The command line that runs `argv` inside the host. */
  inside(host: string, argv: readonly string[]): [string, ...string[]]
  /** Runs to the end inside the host; throws with what it printed when it fails. */
  run(host: string, argv: readonly string[]): string
  /** A virtual wire between two hosts; addresses with their prefix length. */
  wire(a: LabEnd, b: LabEnd): void
  /** Cuts or restores the wire at this end. */
  setLink(host: string, device: string, state: 'up' | 'down'): void
  close(): void
}

export interface LabEnd {
  readonly host: string
  readonly device: string
  readonly addresses: readonly string[]
}

/** Undefined when this machine can make namespaces, else the reason why not. */
export function whyNoNamespaces(needs: readonly string[] = ['ip']): string | undefined {
  if (process.getuid?.() !== 0) return 'network namespaces need root'
  const missing = needs.find((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
  if (missing !== undefined) return `${missing} is not installed`
  const probe = `mesh-probe-${WORKER}`
  if (spawnSync('ip', ['netns', 'add', probe]).status !== 0)
    return 'this machine does not allow network namespaces'
  spawnSync('ip', ['netns', 'del', probe])
  return undefined
}

/** How long a link may take to run once both its ends are up, in ms. */
const RUNNING_WITHIN_MS = 10_000
const LOOK_AGAIN_MS = 10

let labs = 0

/** Hosts of these names, each with loopback up and IPv6 without duplicate address detection's delay. */
export function createLab(hosts: readonly string[]): Lab {
  const prefix = `mesh${WORKER}x${labs++}`
  const name = (host: string) => `${prefix}-${host}`
  const made: string[] = []
  const lab: Lab = {
    name,
    inside: (host, argv) => ['ip', 'netns', 'exec', name(host), ...argv],
    run: (host, argv) => must(lab.inside(host, argv)),
    wire(a, b) {
      // an interface name has at most 15 characters and must not clash outside while it is made
      must([
        'ip',
        '-n',
        name(a.host),
        'link',
        'add',
        a.device,
        'type',
        'veth',
        'peer',
        'name',
        b.device,
        'netns',
        name(b.host),
      ])
      for (const { host, device, addresses } of [a, b]) {
        for (const address of addresses) {
          must([
            'ip',
            '-n',
            name(host),
            'addr',
            'add',
            address,
            'dev',
            device,
            ...(address.includes(':') ? ['nodad'] : []),
          ])
        }
        must(['ip', '-n', name(host), 'link', 'set', device, 'up'])
      }
      for (const { host, device } of [a, b]) awaitRunning(name(host), device)
    },
    setLink: (host, device, state) => void must(['ip', '-n', name(host), 'link', 'set', device, state]),
    close() {
      for (const made_ of made.splice(0)) spawnSync('ip', ['netns', 'del', made_])
    },
  }
  try {
    for (const host of hosts) {
      must(['ip', 'netns', 'add', name(host)])
      made.push(name(host))
      must(['ip', '-n', name(host), 'link', 'set', 'lo', 'up'])
    }
  } catch (error) {
    lab.close()
    throw error
  }
  return lab
}

/** Removes the namespaces of all labs of this process and of its threads, also of those that nobody closes any more. */
export function removeLabs(): void {
  const { stdout } = spawnSync('ip', ['netns', 'list'], { encoding: 'utf8' })
  for (const line of (stdout ?? '').split('\n')) {
    const [namespace = ''] = line.split(' ')
    if (namespace.startsWith(`mesh${process.pid}t`)) spawnSync('ip', ['netns', 'del', namespace])
  }
}

/** Joins hosts by a bridge in one that must exist already: `eth0` in each gets its addresses. */
export function bridge(
  lab: Lab,
  bridgeHost: string,
  addresses: Readonly<Record<string, readonly string[]>>,
): void {
  lab.run(bridgeHost, ['ip', 'link', 'add', 'br0', 'type', 'bridge'])
  lab.run(bridgeHost, ['ip', 'link', 'set', 'br0', 'up'])
  let port = 0
  for (const [host, own] of Object.entries(addresses)) {
    const device = `p${port++}`
    lab.wire({ host, device: 'eth0', addresses: own }, { host: bridgeHost, device, addresses: [] })
    lab.run(bridgeHost, ['ip', 'link', 'set', device, 'master', 'br0'])
  }
  if (port > MAX_ASKING_HOSTS) nameNeighbours(lab, addresses)
}

/**
 * Most hosts of one bridge that resolve each other's hardware addresses. The kernel keeps IPv4 neighbours of all namespaces in
 * one table of 1,024 entries. When it is full, hosts reach no new neighbour.
 */
const MAX_ASKING_HOSTS = 30

/** Tells each host the hardware addresses of the others, which counts nowhere and is asked for by nobody. */
function nameNeighbours(lab: Lab, addresses: Readonly<Record<string, readonly string[]>>): void {
  const known = Object.entries(addresses).map(([host, own]) => {
    const [link] = JSON.parse(lab.run(host, ['ip', '-j', 'link', 'show', 'eth0'])) as [{ address: string }]
    const ips = own.filter((address) => !address.includes(':')).map((address) => address.split('/')[0])
    return {
      host,
      entries: ips.map((ip) => `neigh replace ${ip} lladdr ${link.address} dev eth0 nud permanent`),
    }
  })
  for (const { host } of known) {
    const lines = known.flatMap((other) => (other.host === host ? [] : other.entries))
    lab.run(host, ['sh', '-c', `ip -batch - <<'END'\n${lines.join('\n')}\nEND`])
  }
}

/**
 * Waits until the kernel says that the link runs, up to a second after both ends are up: before, programs see none of
 * its addresses.
 */
function awaitRunning(namespace: string, device: string): void {
  const deadline = performance.now() + RUNNING_WITHIN_MS
  const pause = new Int32Array(new SharedArrayBuffer(4))
  while (!must(['ip', '-n', namespace, '-o', 'link', 'show', 'dev', device]).includes('state UP')) {
    if (performance.now() > deadline) throw new Error(`${device} does not run in ${namespace}`)
    Atomics.wait(pause, 0, 0, LOOK_AGAIN_MS)
  }
}

function must(argv: readonly string[]): string {
  const [command = '', ...args] = argv
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${argv.join(' ')}: ${(stderr ?? '').trim() || `exit ${status}`}`)
  return stdout
}
