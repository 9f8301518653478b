/**
 * Reads the modules of the single executable without the file system that Node makes of its files: that one looks each up many
 * times and copies it twice, which is a fifth of a start.
 */
import { type LoadHookSync, registerHooks, type ResolveHookSync } from 'node:module'

/** Reads the modules of this folder from the executable: files in the folder itself, and imports of `./NAME` from there. */
export function readHeldModules(folderUrl: string, read: (name: string) => string): void {
  registerHooks(heldModules(folderUrl, read))
}

/** @param folderUrl ends with a slash  @param read throws for a name that the executable does not hold */
export function heldModules(
  folderUrl: string,
  read: (name: string) => string,
): { readonly resolve: ResolveHookSync; readonly load: LoadHookSync } {
  return {
    resolve(specifier, context, next) {
      const isHeld = specifier.startsWith('./') && nameIn(folderUrl, context.parentURL) !== undefined
      return isHeld
        ? { url: `${folderUrl}${specifier.slice(2)}`, format: 'module', shortCircuit: true }
        : next(specifier, context)
    },
    load(url, context, next) {
      const name = nameIn(folderUrl, url)
      return name === undefined
        ? next(url, context)
        : { format: 'module', source: read(name), shortCircuit: true }
    },
  }
}

/** Undefined for what is elsewhere, or in a folder below. */
function nameIn(folderUrl: string, url: string | undefined): string | undefined {
  const name = url?.startsWith(folderUrl) === true ? url.slice(folderUrl.length) : ''
  return name === '' || name.includes('/') ? undefined : name
}
