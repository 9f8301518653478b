/** The nodes of a soak: some stay throughout, the others end or die, one after another, and come again as they were. */
import type { AttackTarget } from '../attack/scenario.ts'
import { pause } from '../attack/until-true.ts'
import type { Mesh, NodeProcess } from '../../apps/node/test/harness.ts'

export interface SoakNode {
  readonly process: NodeProcess
  readonly isSteady: boolean
  readonly target: AttackTarget
}

export interface SoakNodes {
  add(init: { readonly isSteady: boolean }): Promise<void>
  /** Those that run now. */
  running(): readonly SoakNode[]
  steady(): readonly SoakNode[]
  /** Ends one of the others, gently or not in turn, and starts it again after so many ms. */
  churn(awayMs: number): Promise<void>
  /** How many times a node was ended and came again. */
  churned(): number
  /** Resolves when nobody is away. */
  allBack(): Promise<void>
  onlineAtFirst(): Promise<number>
  /** What nodes did that none may do, as lines for people. */
  failures(): readonly string[]
}

/**
 * Heartbeats come soon, so that the ledgers tell who is there, and last no longer than they must: of two live owners of
 * one key every node keeps the one that it heard first, and attackers that claimed keys count as live until then.
 */
const ARGS = [
  '--aliveness-healthcheck-interval=20s',
  '--ownership-ttl=80s',
  '--aliveness-healthcheck-scrub-interval=60s',
]
/** How long a start may take, in ms: twenty nodes share the processors with what they are asked to bear. */
const START_MS = 180_000
/** How many of the first nodes the later ones know. */
const KNOWN = 3

export function createSoakNodes(mesh: Mesh, token: string): SoakNodes {
  return new ChurningNodes(mesh, token)
}

class ChurningNodes implements SoakNodes {
  readonly #mesh: Mesh
  readonly #token: string
  readonly #nodes: SoakNode[] = []
  readonly #failures: string[] = []
  #away: Promise<void> = Promise.resolve()
  #churned = 0

  constructor(mesh: Mesh, token: string) {
    this.#mesh = mesh
    this.#token = token
  }

  async add({ isSteady }: { readonly isSteady: boolean }): Promise<void> {
    await this.#start(isSteady)
  }

  running(): readonly SoakNode[] {
    return this.#nodes
  }

  steady(): readonly SoakNode[] {
    return this.#nodes.filter(({ isSteady }) => isSteady)
  }

  churn(awayMs: number): Promise<void> {
    const others = this.#nodes.filter(({ isSteady }) => !isSteady)
    const chosen = others[this.#churned % Math.max(1, others.length)]
    if (chosen === undefined) return Promise.resolve()
    this.#away = this.#restart(chosen, awayMs)
    return this.#away
  }

  churned(): number {
    return this.#churned
  }

  allBack(): Promise<void> {
    return this.#away
  }

  async onlineAtFirst(): Promise<number> {
    const [first] = this.#nodes
    if (first === undefined) return 0
    return (await first.process.client.listNodes()).filter(({ Online }) => Online).length
  }

  failures(): readonly string[] {
    return [...this.#failures, ...this.#nodes.flatMap((node) => unexpectedOf(node))]
  }

  async #restart(node: SoakNode, awayMs: number): Promise<void> {
    const { process } = node
    this.#nodes.splice(this.#nodes.indexOf(node), 1)
    const isGentle = this.#churned++ % 2 === 0
    const { code } = await (isGentle ? process.stop() : process.kill())
    if (isGentle && code !== 0) this.#failures.push(`${process.id} ended with ${String(code)} when asked to`)
    this.#failures.push(...unexpectedOf(node))
    await pause(awayMs)
    await this.#start(node.isSteady, process.stateDir)
  }

  async #start(isSteady: boolean, stateDir?: string): Promise<void> {
    const known = this.#nodes
      .slice(0, KNOWN)
      .map(({ target }) => `--discovery-bootstrap-peers=${target.address}`)
    const process = await this.#mesh.start({
      token: this.#token,
      args: [...ARGS, ...known],
      startWithinMs: START_MS,
      ...(stateDir !== undefined && { stateDir }),
    })
    const address = process.addresses.find((each) => !each.includes('/ws'))
    if (address === undefined) throw new Error('a node listens nowhere')
    const { pid, id, url } = process
    const target: AttackTarget = { kind: 'mesh', pid, id, address, url, healthUrl: `${url}/healthz` }
    const node = { process, isSteady, target }
    this.#nodes.push(node)
    void process.exited.then(({ code, signal }) => {
      // whoever is ended here was taken out before
      if (this.#nodes.includes(node)) this.#failures.push(`${id} ended by itself: ${code ?? signal}`)
    })
  }
}

/** Errors that nobody caught are logged by this code, and end the node. */
function unexpectedOf({ process }: SoakNode): readonly string[] {
  return process.lines
    .filter((line) => line['code'] === 'node.unexpected')
    .map((line) => `${process.id}: ${JSON.stringify(line)}`)
}
