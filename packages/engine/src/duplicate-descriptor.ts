/** A second descriptor of an open socket, which Node cannot make. */
import { fromNative } from './errors.ts'
import { loadAddon } from './native.ts'

/**
 * Gives a further descriptor of an open file or socket of this process. Whoever asks has to close it, and programs that
 * this process starts do not get it.
 *
 * @param addon the addon's file, where it is not in its platform package
 * @throws MeshError `engine.no_addon`; `engine.system`, for what is no descriptor, and where there may be no more
 */
export function duplicateDescriptor(descriptor: number, addon?: string): number {
  const library = loadAddon(addon)
  try {
    return library.duplicateDescriptor(descriptor)
  } catch (error) {
    throw fromNative(error)
  }
}
