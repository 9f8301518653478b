/** Gives memory of this process back to the system, which JavaScript cannot. */
import { loadAddon } from './native.ts'

/**
 * Gives back what the C library keeps of freed memory: buffers that come and go in numbers leave gaps that it would keep
 * for as long as the process runs, 100 MB and more. Takes some ms. True when there was something; never where the C
 * library has no such call.
 *
 * @param addon the addon's file, where it is not in its platform package
 * @throws MeshError `engine.no_addon`
 */
export function trimMemory(addon?: string): boolean {
  return loadAddon(addon).trimMemory()
}
