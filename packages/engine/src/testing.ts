/** The engine with a memory device in the kernel's place: no privileges, no interface, all else real. */
import { type Engine, type EngineComponents, type EngineInit, startEngine } from './engine.ts'
import { loadAddon } from './native.ts'
import { nativeUdp } from './native-init.ts'

/** The kernel's end of a memory device. */
export interface MemoryDevice {
  /** Acts as if the kernel sent this packet; false when the engine has too much to read already. */
  send(packet: Uint8Array): boolean
  /** The packets that the kernel would have got since the last call. */
  receive(): Uint8Array[]
}

export interface MemoryEngine extends Engine {
  readonly device: MemoryDevice
}

export type MemoryEngineInit = Pick<EngineInit, 'privateKey' | 'udp' | 'onEvent' | 'addon'>

/** @throws MeshError `engine.no_addon` */
export function openMemoryEngine(init: MemoryEngineInit, components: EngineComponents = {}): MemoryEngine {
  const { engine, native } = startEngine(
    { addresses: [], mtu: 0, privateKey: init.privateKey, ...nativeUdp(init.udp) },
    init,
    components,
  )
  let closed = false
  const device: MemoryDevice = {
    send: (packet) => !closed && native.memorySend(packet),
    receive() {
      const packets: Uint8Array[] = []
      for (
        let packet = closed ? null : native.memoryReceive();
        packet !== null;
        packet = native.memoryReceive()
      )
        packets.push(packet)
      return packets
    },
  }
  const close = engine.close.bind(engine)
  return Object.assign(engine, {
    device,
    close() {
      closed = true
      close()
    },
  })
}

/** The names that the addon has for what `DROP_REASONS` lists, and for the events. */
export function nativeNames(addon?: string): { readonly reasons: string[]; readonly events: string[] } {
  const { reasonNames, eventNames } = loadAddon(addon)
  return { reasons: reasonNames(), events: eventNames() }
}
