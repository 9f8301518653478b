/** Packages with native code or a large tree below them, which nobody should have to install for TCP alone. */
import { MeshError } from '@mesh/core'
import type { P2pErrorCode } from '../p2p-error.ts'

interface OptionalPackages {
  /** The feature that works when they are installed: `QUIC`. */
  readonly feature: string
  readonly packages: readonly string[]
}

/**
 * Imports packages that may be missing.
 *
 * @throws MeshError `p2p.missing_package` when one of the packages is not installed; whatever else goes wrong in
 * loading as it is
 */
export async function loadOptional<T>(
  { feature, packages }: OptionalPackages,
  load: () => Promise<T>,
): Promise<T> {
  try {
    return await load()
  } catch (cause) {
    const missing = packages.find((name) => isMissing(cause, name))
    if (missing === undefined) throw cause
    const code: P2pErrorCode = 'p2p.missing_package'
    throw new MeshError(code, `${feature} needs the package ${missing}, which is not installed`, {
      hint: `Install ${packages.join(' and ')} beside @mesh/p2p, or switch ${feature} off.`,
      details: { feature, missing },
      cause,
    })
  }
}

/** True when the package itself is missing, and not one that it imports. */
function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error) || (error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND')
    return false
  return error.message.startsWith(`Cannot find package '${name}'`)
}
