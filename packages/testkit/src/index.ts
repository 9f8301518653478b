/** Aids of the tests: time, randomness and waiting under control. Private, never published. */
export { eventually } from './eventually.ts'
export { freePort } from './free-port.ts'
export { bridge, createLab, type Lab, type LabEnd, whyNoNamespaces } from './namespaces.ts'
export { createManualClock, type ManualClock } from './manual-clock.ts'
export { createNatLab, createNatsLab, type LabNatKind, NAT_UDP_PORT } from './nat-lab.ts'
export { Nat, NAT_KINDS, type NatKind, type NatEndpoint, punches } from './nat-model.ts'
export { createSeededRandom } from './seeded-random.ts'
export { findWireguardGo } from './wireguard-go.ts'
