/** Tells systemd-resolved of the node: its interface has the node as server, for the zone alone. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { HealthProblem } from '@mesh/api-server'
import { type Clock, toError } from '@mesh/core'
import { notConfigured, type ResolverWay } from './keep-resolver.ts'

/** How long `resolvectl` may take, in ms: the node waits for it. */
const RESOLVECTL_MS = 3_000
/** How often systemd-resolved is asked whether it still knows the node, in ms. */
const RESOLVED_LOOK_MS = 30_000

export interface ResolvedWayInit {
  /** The interface of the VPN. */
  readonly link: string
  /** Where the node answers, as resolvectl takes it. */
  readonly server: string
  /** The zones that the node answers for, with a trailing dot. */
  readonly zones: readonly string[]
  /** The node is asked for all names: it forwards through the exit node. */
  readonly isForAll: boolean
  readonly clock: Clock
}

export class ResolvedWay implements ResolverWay {
  readonly by = 'systemd-resolved'
  readonly #init: ResolvedWayInit

  constructor(init: ResolvedWayInit) {
    this.#init = init
  }

  async apply(): Promise<HealthProblem | undefined> {
    const { link, server, zones, isForAll } = this.#init
    try {
      await resolvectl('dns', link, server)
      const domains = zones.map((zone) => `~${zone.slice(0, -1)}`)
      await resolvectl('domain', link, ...domains, ...(isForAll ? ['~.'] : []))
      await resolvectl('default-route', link, isForAll ? 'yes' : 'no')
      return undefined
    } catch (error) {
      return notConfigured(`resolvectl failed (${toError(error).message.split('\n')[0]})`)
    }
  }

  async isInPlace(): Promise<boolean> {
    const { link, server } = this.#init
    try {
      const told = await resolvectl('dns', link)
      return told.split(/\s+/).includes(server)
    } catch {
      // it does not answer: nothing is known, and it keeps its settings when it starts again
      return true
    }
  }

  watch(onChange: () => void): () => void {
    let cancel = () => {}
    const lookLater = () => {
      cancel = this.#init.clock.after(RESOLVED_LOOK_MS, () => {
        onChange()
        lookLater()
      })
    }
    lookLater()
    return () => cancel()
  }

  async revert(): Promise<void> {
    await resolvectl('revert', this.#init.link).catch(() => {})
  }
}

/** True where systemd-resolved runs. */
export async function hasResolved(): Promise<boolean> {
  return resolvectl('status').then(
    () => true,
    () => false,
  )
}

async function resolvectl(...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('resolvectl', [...args], { timeout: RESOLVECTL_MS })
  return stdout
}
