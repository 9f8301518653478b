/** What the stories of tunnels.test.ts and legacy-tunnels.test.ts share: machines that end with their test. */
import { openMemoryEngine } from '@mesh/engine/testing'
import { eventually } from '@mesh/testkit'
import { expect } from 'vitest'
import { LEGACY_PROTOCOL } from '../src/legacy/limits.ts'
import {
  type MemoryMachine,
  type MemoryMachineInit,
  type MemoryNetwork,
  addressOf,
  createMemoryNetwork,
  markOf,
  openMachine,
  packet,
  peerOf,
} from '@mesh/vpn/testing'

export const whyNoAddon = reasonAgainstAddon()
const opened: MemoryMachine[] = []

export function stopAll(): void {
  for (const machine of opened.splice(0)) machine.stop()
}

export async function open(network: MemoryNetwork, init: MemoryMachineInit): Promise<MemoryMachine> {
  const machine = await openMachine(network, init)
  opened.push(machine)
  return machine
}

export async function two() {
  const network = createMemoryNetwork()
  const a = await open(network, { number: 1, peers: [2] })
  const b = await open(network, { number: 2, peers: [1] })
  return { network, a, b }
}

export async function withLegacy() {
  const network = createMemoryNetwork()
  const a = await open(network, { number: 1, peers: [2] })
  return { network, a, ...joinLegacy(network) }
}

/** Machine 2 as an legacy node: what its kernel gets is in `theirs`. */
export function joinLegacy(network: MemoryNetwork) {
  const { network: own } = network.join(peerOf(2))
  const theirs: Uint8Array[] = []
  void own.streams.handle(LEGACY_PROTOCOL, { from: 'heard', maxPerPeer: 1024, relayed: false }, (stream) =>
    stream.onBytes((bytes) => theirs.push(Uint8Array.from(bytes))),
  )
  const legacy = {
    peer: peerOf(2),
    /** One stream with these chunks. */
    async send(chunks: readonly (Uint8Array | undefined)[]) {
      const options = { from: 'heard', relayed: false } as const
      const stream = await own.streams.open(peerOf(1), LEGACY_PROTOCOL, options)
      const ended = new Promise((resolve) => stream.onEnd(resolve))
      for (const chunk of chunks) if (chunk !== undefined) stream.send(chunk)
      stream.close()
      await ended
    },
  }
  return { legacy, theirs }
}

export function send(from: MemoryMachine, to: { readonly peer: string }, mark: number): void {
  const destination = [1, 2, 3].find((number) => peerOf(number) === to.peer) ?? 0
  from.engine.device.send(packet(addressOf(numberOf(from)), addressOf(destination), 100, mark))
}

export function numberOf(machine: MemoryMachine): number {
  return [1, 2, 3].find((number) => peerOf(number) === machine.peer) ?? 0
}

/** The marks of what came, as soon as there are so many. */
export async function received(machine: MemoryMachine, count: number): Promise<number[]> {
  const marks: number[] = []
  await eventually(
    () => {
      marks.push(...machine.received().map(markOf))
      expect(marks.length).toBeGreaterThanOrEqual(count)
    },
    { withinMs: 10_000 },
  )
  return marks
}

/** Sends again and again until the machine's kernel has got one with the mark. */
export function untilReceived(machine: MemoryMachine, mark: number, sendOne: () => void): Promise<void> {
  return eventually(
    () => {
      sendOne()
      expect(machine.received().map(markOf)).toContain(mark)
    },
    { withinMs: 12_000, everyMs: 100 },
  )
}

export function drops(machine: MemoryMachine, from: { readonly peer: string }) {
  const found = [...machine.engine.stats().peers].find(([peer]) => peer === from.peer)
  return found?.[1].drops ?? {}
}

export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

export function because(reason: string | undefined): string {
  return reason === undefined ? '' : ` (skipped: ${reason})`
}

function reasonAgainstAddon(): string | undefined {
  try {
    openMemoryEngine({ privateKey: new Uint8Array(32).fill(1), onEvent() {} }).close()
    return undefined
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
