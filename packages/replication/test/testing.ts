/** What tests of other packages use: nodes and a network in virtual time. Seen from the sources only, never published. */
export { startAnnouncing } from '../src/presence/keep-announced.ts'
export { REPLICATION_PROTOCOL } from '../src/limits.ts'
export { createSimNetwork, type SimNetwork, type SimNetworkInit } from './sim-network.ts'
export {
  createRetainingStore,
  createSimSigner,
  type SimNode,
  startSimNode,
  verifySim,
} from './sim-node.ts'
