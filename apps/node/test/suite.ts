/** What suites of real processes share: cleaning up after each test, and names that say why a suite is skipped. */
import { afterEach } from 'vitest'

/**
 * Collects what is undone after each test, the newest first. Call it at the top of a test file.
 *
 * @example
 * ```ts
 * const cleanUps = createCleanUps()
 * cleanUps.push(() => mesh.cleanUp())
 * ```
 */
export function createCleanUps(): (() => unknown)[] {
  const cleanUps: (() => unknown)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })
  return cleanUps
}

/** The name of a suite, with the reason where it is skipped. */
export function suiteName(name: string, whySkipped: string | undefined): string {
  return whySkipped === undefined ? name : `${name} (skipped: ${whySkipped})`
}
