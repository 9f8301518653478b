/** Members of a VPN in one process: networks, streams and machines in memory, and packets for them. */
export {
  addressOf,
  type MemoryMachine,
  type MemoryMachineInit,
  openMachine,
  peerOf,
} from './testing/memory-machine.ts'
export {
  createMemoryNetwork,
  type MemoryMember,
  type MemoryNetwork,
} from './testing/memory-network.ts'
export { createMemoryChannel, createStreamPair, readAll, type StreamPair } from './testing/memory-stream.ts'
export { markOf, packet } from './testing/packet.ts'
