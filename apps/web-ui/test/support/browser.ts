import { existsSync } from 'node:fs'
import { type Browser, chromium, type Page } from 'playwright-core'

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
]

/** Where a Chromium is installed; undefined where there is none. */
export const browserPath = PLACES.find((path) => existsSync(path))

/** Quiet: asks nobody for updates, and needs neither a display nor a sandbox. */
export function launchBrowser(executablePath: string, more: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      ...more,
    ],
  })
}

/** What a page did that it should not. */
export interface Misdeeds {
  /** URLs of other origins that it asked for. */
  readonly elsewhere: string[]
  /** Console errors and warnings, exceptions, failed requests. */
  readonly complaints: string[]
  /** Directives of the content security policy that it broke. */
  violations(): Promise<readonly string[]>
}

/** Watches a page from before its first request on. */
export async function watchPage(page: Page, origin: string): Promise<Misdeeds> {
  const elsewhere: string[] = []
  const complaints: string[] = []
  page.on('request', (request) => {
    if (new URL(request.url()).origin !== origin) elsewhere.push(request.url())
  })
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`)
  })
  await page.addInitScript(() => {
    const seen: string[] = []
    Object.assign(globalThis, { seenViolations: seen })
    document.addEventListener('securitypolicyviolation', (event) => {
      seen.push(`${event.effectiveDirective} ${event.blockedURI}`)
    })
  })
  return {
    elsewhere,
    complaints,
    violations: () =>
      page.evaluate(() => (globalThis as unknown as { seenViolations: string[] }).seenViolations),
  }
}
