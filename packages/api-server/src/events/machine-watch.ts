/** Tells when machines come and go: their heartbeats get fresh, or grow older than 10 minutes. */
import { BUCKETS, type Clock } from '@mesh/core'
import type { LoopBudget } from '@mesh/core/limits'
import type { Ledger } from '@mesh/ledger'
import { MACHINE_CHECK_INTERVAL_MS, MACHINE_CHECK_SOON_MS, STEP_MACHINES } from '../limits.ts'
import { isOnline, type Scene } from '../views/members.ts'
import type { EventHub } from './event-hub.ts'

interface MachineState {
  readonly PeerID: string
  readonly Hostname: string
  readonly Address: string
  readonly online: boolean
}

type MachineStates = ReadonlyMap<string, MachineState>

export interface MachineWatchComponents {
  readonly hub: EventHub
  readonly clock: Clock
  readonly budget: LoopBudget
}

/** Begins from what is known now, in silence. The returned function ends it. */
export function watchMachines(
  ledger: Ledger,
  scene: () => Scene,
  { hub, clock, budget }: MachineWatchComponents,
): () => void {
  /** Undefined before all were looked at once. */
  let known: MachineStates | undefined
  let cancel = () => {}
  let endWalk = () => {}
  let isSoon = false
  let isWalking = false

  function check(): void {
    isSoon = false
    isWalking = true
    endWalk = budget.walk('background', machineStates(scene()), (current) => {
      if (known !== undefined) compare(known, current)
      known = current
      isWalking = false
      cancel = clock.after(isSoon ? MACHINE_CHECK_SOON_MS : MACHINE_CHECK_INTERVAL_MS, check)
    })
  }
  function compare(before: MachineStates, current: MachineStates): void {
    for (const [id, machine] of current) {
      if (machine.online !== (before.get(id)?.online ?? false)) publish(machine, machine.online)
    }
    for (const [id, machine] of before) if (machine.online && !current.has(id)) publish(machine, false)
  }
  function publish({ PeerID, Hostname, Address }: MachineState, online: boolean): void {
    hub.publish(online ? 'machine.online' : 'machine.offline', { PeerID, Hostname, Address })
  }
  const unsubscribe = ledger.subscribe((event) => {
    if (event.type !== 'committed' || isSoon) return
    if (!event.changes.some(({ bucket }) => bucket === BUCKETS.machines || bucket === BUCKETS.healthcheck))
      return
    isSoon = true
    if (isWalking) return
    cancel()
    cancel = clock.after(MACHINE_CHECK_SOON_MS, check)
  })
  check()
  return () => {
    unsubscribe()
    endWalk()
    cancel()
  }
}

/** Reads and looks at the machines by peer id, in steps of a moment: a machine comes and goes once, however many addresses it has. */
function* machineStates(scene: Scene): Generator<void, MachineStates> {
  yield* scene.machines.steps()
  const states = new Map<string, MachineState>()
  for (const { record } of scene.machines.all()) {
    const { PeerID, Hostname, Address } = record
    states.set(PeerID, { PeerID, Hostname, Address, online: isOnline(scene, PeerID) })
    if (states.size % STEP_MACHINES === 0) yield
  }
  return states
}
