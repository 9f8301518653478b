/** Prepares the single executable: its modules and its addons come from inside the file. */
import { dirname } from 'node:path'
import { getAsset } from 'node:sea'
import { fileURLToPath } from 'node:url'
import { loadAddonsFromFiles } from './addon-files.ts'
import { readHeldModules } from './held-modules.ts'

/** @param mainUrl that of the main module, beside which all others are held */
export function prepareExecutable(mainUrl: string): void {
  readHeldModules(new URL('.', mainUrl).href, (name) => getAsset(name, 'utf8'))
  loadAddonsFromFiles(dirname(fileURLToPath(mainUrl)))
}
