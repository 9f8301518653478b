/** Tells when machines come and go: their heartbeats get fresh, or grow older than 10 minutes. */
import { BUCKETS, type Clock } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import { MACHINE_CHECK_INTERVAL_MS, MACHINE_CHECK_SOON_MS } from '../limits.ts'
import { isOnline, machinesOf, type Scene } from '../views/members.ts'
import type { EventHub } from './event-hub.ts'

interface MachineState {
  readonly PeerID: string
  readonly Hostname: string
  readonly Address: string
  readonly online: boolean
}

/** Begins from what is known now, in silence. The returned function ends it. */
export function watchMachines(ledger: Ledger, scene: () => Scene, hub: EventHub, clock: Clock): () => void {
  let known = machineStates(scene())
  let cancel = clock.after(MACHINE_CHECK_INTERVAL_MS, check)
  let isSoon = false

  function check(): void {
    const current = machineStates(scene())
    for (const [id, machine] of current) {
      if (machine.online !== (known.get(id)?.online ?? false)) publish(machine, machine.online)
    }
    for (const [id, machine] of known) if (machine.online && !current.has(id)) publish(machine, false)
    known = current
    isSoon = false
    cancel = clock.after(MACHINE_CHECK_INTERVAL_MS, check)
  }
  function publish({ PeerID, Hostname, Address }: MachineState, online: boolean): void {
    hub.publish(online ? 'machine.online' : 'machine.offline', { PeerID, Hostname, Address })
  }
  const unsubscribe = ledger.subscribe((event) => {
    if (event.type !== 'committed' || isSoon) return
    if (!event.changes.some(({ bucket }) => bucket === BUCKETS.machines || bucket === BUCKETS.healthcheck))
      return
    isSoon = true
    cancel()
    cancel = clock.after(MACHINE_CHECK_SOON_MS, check)
  })
  return () => {
    unsubscribe()
    cancel()
  }
}

/** Gives the machines by peer id: a machine comes and goes once, however many addresses it has. */
function machineStates(scene: Scene): ReadonlyMap<string, MachineState> {
  return new Map(
    machinesOf(scene.snapshot).map(({ record: { PeerID, Hostname, Address } }) => [
      PeerID,
      { PeerID, Hostname, Address, online: isOnline(scene, PeerID) },
    ]),
  )
}
