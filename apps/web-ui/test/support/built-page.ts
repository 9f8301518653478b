import type { Browser } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { browserPath, launchBrowser } from './browser.ts'
import { type BuiltPage, buildPage, type ServedPage, servePage } from './served-page.ts'

/** The built page, a node that serves it, and a browser. */
interface BrowsedPage {
  readonly built: BuiltPage
  readonly node: ServedPage
  readonly browser: Browser
}

/** Sets them up for the tests of a suite; the returned function gives them, from the first test on. */
export function browseBuiltPage(): () => BrowsedPage {
  let browsed: BrowsedPage | undefined
  beforeAll(async () => {
    const built = await buildPage()
    const node = await servePage(built.assets)
    browsed = { built, node, browser: await launchBrowser(browserPath ?? '') }
  })
  afterAll(async () => {
    await browsed?.browser.close()
    await browsed?.node.stop()
    browsed?.built.remove()
  })
  return () => {
    if (browsed === undefined) throw new Error('no test has begun')
    return browsed
  }
}
