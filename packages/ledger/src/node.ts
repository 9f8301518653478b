/** Only Node has this part of the ledger: a store on disk, and fast signatures. */
export { createNodeSigner, createNodeVerifier } from './node/node-crypto.ts'
export { type DiskStore, type DiskStoreInit, openDiskStore } from './node/disk-store.ts'
export { type SetAside, setAsideDamaged } from './node/set-aside.ts'
export { type CopyProblem, StoreCopies, type StoreCopiesInit } from './node/store-copies.ts'
