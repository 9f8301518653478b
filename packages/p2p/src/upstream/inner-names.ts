/** Checks that a library has the inner names that a wrapper needs: without them its bounds would be off, and nobody told. */
import { MeshError } from '@mesh/core'

/**
 * Gives a library's part with inner names that its types do not tell.
 *
 * @param library name and version to install
 * @throws MeshError `p2p.incompatible_library` where one is missing
 */
export function openInner<T extends object>(
  library: string,
  part: unknown,
  names: readonly (keyof T & string)[],
): T {
  const inner = (part ?? {}) as Partial<T>
  const missing = names.filter((name) => inner[name] === undefined)
  if (missing.length === 0) return inner as T
  throw new MeshError('p2p.incompatible_library', `this version of ${library.split(' ')[0]} does not fit`, {
    details: { missing },
    hint: `Install ${library}.`,
  })
}
