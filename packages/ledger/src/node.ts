/** Only Node has this part of the ledger: a store on disk, and fast signatures. */
export { createNodeSigner, createNodeVerifier } from './node/node-crypto.ts'
export { type DiskStoreInit, openDiskStore } from './node/disk-store.ts'
