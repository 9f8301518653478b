/** Aids of the tests: time, randomness and waiting under control. Private, never published. */
export { eventually } from './eventually.ts'
export { freePort } from './free-port.ts'
export { bridge, createLab, type Lab, type LabEnd, whyNoNamespaces } from './namespaces.ts'
export { createManualClock, type ManualClock } from './manual-clock.ts'
export { createNatLab } from './nat-lab.ts'
export { createSeededRandom } from './seeded-random.ts'
