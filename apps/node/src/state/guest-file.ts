/** Keeps guests in the instance's folder over restarts. Mode 0600: the node's WireGuard key stands in it. */
import type { GuestStore } from '@mesh/vpn'
import { readIfThere, replaceFile } from '../files/replace-file.ts'

export function createGuestFile(path: string): GuestStore {
  return { read: () => readIfThere(path), write: (text) => replaceFile(path, text) }
}
