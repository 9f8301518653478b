/** Gives memory of this process back to the system, which JavaScript cannot. */
import { loadAddon } from './native.ts'

/**
 * Gives freed memory of the C library back to the system. Buffers that come and go in numbers leave gaps of 100 MB and more. Takes
 * some ms. True when there was something; never where the C library has no such call.
 *
 * @param addon the addon's file, where it is not in its platform package
 * @throws MeshError `engine.no_addon`
 */
export function trimMemory(addon?: string): boolean {
  return loadAddon(addon).trimMemory()
}
