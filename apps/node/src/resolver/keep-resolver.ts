/**
 * Keeps this machine's resolver configured while other programs write the same settings.
 *
 * 1. Checks whether the node's change is in place.
 * 2. Reports that it was undone.
 * 3. Makes it again, with backoff, so that two programs do not fight.
 * 4. Forgets the backoff when the change has stood for a while.
 */
import type { HealthProblem } from '@mesh/api-server'
import { type Clock, type Logger, type Random } from '@mesh/core'
import { createBackoff } from '@mesh/core/limits'

/** The wait before the first repair, in ms. */
const REPAIR_LEAST_MS = 1_000
/** The longest wait before a repair, in ms. */
const REPAIR_MOST_MS = 600_000
/** A change that stood this long, in ms, was undone by chance, and not by a program that fights for it. */
const STOOD_MS = 600_000

/** One way in which the machine's resolver is told of this node. */
export interface ResolverWay {
  /** The file or service that is changed, for the log and for people. */
  readonly by: string
  /** Makes the change, and gives the reason where that failed. */
  apply(): HealthProblem | undefined | Promise<HealthProblem | undefined>
  isInPlace(): boolean | Promise<boolean>
  /** Calls back when the change may have been undone. The returned function ends it. */
  watch(onChange: () => void): () => void
}

export interface KeepResolverComponents {
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** Tells a person, or takes it back. */
  readonly setProblem: (problem: HealthProblem | undefined) => void
}

/** Makes the change and keeps it. The returned function ends the keeping; the change stays. */
export async function keepResolver(
  way: ResolverWay,
  components: KeepResolverComponents,
): Promise<() => void> {
  const keeper = new ResolverKeeper(way, components)
  await keeper.start()
  return () => keeper.stop()
}

class ResolverKeeper {
  readonly #way: ResolverWay
  readonly #components: KeepResolverComponents
  readonly #backoff
  #appliedAt = 0
  #isWorking = false
  #isStopped = false
  #unwatch = () => {}
  #cancel: (() => void) | undefined

  constructor(way: ResolverWay, components: KeepResolverComponents) {
    this.#way = way
    this.#components = components
    this.#backoff = createBackoff({ leastMs: REPAIR_LEAST_MS, mostMs: REPAIR_MOST_MS }, components)
  }

  async start(): Promise<void> {
    await this.#apply('resolver configured')
    if (!this.#isStopped) this.#unwatch = this.#way.watch(() => void this.#look())
  }

  stop(): void {
    this.#isStopped = true
    this.#unwatch()
    this.#cancel?.()
  }

  async #look(): Promise<void> {
    if (this.#isWorking || this.#isStopped || this.#cancel !== undefined) return
    this.#isWorking = true
    const isInPlace = await this.#way.isInPlace()
    this.#isWorking = false
    if (!isInPlace && !this.#isStopped) this.#repairLater()
  }

  #repairLater(): void {
    const { clock, log, setProblem } = this.#components
    const { by } = this.#way
    if (clock.monotonic() - this.#appliedAt >= STOOD_MS) this.#backoff.succeeded()
    this.#backoff.failed()
    const afterMs = this.#backoff.remainingMs()
    setProblem(undone(by, afterMs))
    log.warn('resolver configuration was undone', { by, repairedAfterMs: Math.round(afterMs) })
    this.#cancel = clock.after(afterMs, () => {
      this.#cancel = undefined
      void this.#apply('resolver configured again')
    })
  }

  async #apply(message: string): Promise<void> {
    const { clock, log, setProblem } = this.#components
    this.#isWorking = true
    const problem = await this.#way.apply()
    this.#isWorking = false
    this.#appliedAt = clock.monotonic()
    setProblem(problem)
    if (problem === undefined) log.info(message, { by: this.#way.by })
    else log.warn(problem.title, { hint: problem.hint })
  }
}

function undone(by: string, afterMs: number): HealthProblem {
  return {
    code: 'dns.configuration_undone',
    severity: 'warning',
    title: `This machine does not resolve names through its private network: another program has rewritten ${by}`,
    hint: `The node writes it again in ${Math.ceil(afterMs / 1_000)} s, and waits longer each time. If this goes on, have the other program leave DNS alone (dhcpcd: nohook resolv.conf; NetworkManager: dns=none), or start the node without --dns-configure.`,
  }
}

/** The problem of a change that cannot be made. */
export function notConfigured(reason: string): HealthProblem {
  return {
    code: 'dns.not_configured',
    severity: 'warning',
    title: `This machine does not resolve names through its private network: ${reason}`,
    hint: 'Names work as before; tools that take a server, such as dig, can ask the address of --dns.',
  }
}
