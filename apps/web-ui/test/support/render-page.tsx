import { createClient } from '@mesh/api-client'
import { EVENT_HEARTBEAT_MS } from '@mesh/api-contract'
import { systemClock } from '@mesh/core'
import { createMemoryHistory } from '@tanstack/react-router'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { cleanup, render } from '@testing-library/react'
import { App } from '../../src/app.tsx'
import { createSession } from '../../src/data/session.ts'
import { createQueryClient } from '../../src/data/query-client.ts'
import { createPageRouter, type PageRouter } from '../../src/router.tsx'
import type { FakeNode } from './fake-node.ts'

export interface RenderedPage {
  readonly router: PageRouter
  readonly clock: ManualClock
  close(): void
}

/** What jsdom does not have: a layout, scrolling and modal dialogs. */
function completeJsdom(): void {
  window.scrollTo = () => {}
  Object.defineProperty(HTMLElement.prototype, 'clientHeight', { configurable: true, get: () => 600 })
  Object.defineProperty(HTMLElement.prototype, 'clientWidth', { configurable: true, get: () => 1000 })
  HTMLDialogElement.prototype.showModal ??= function showModal(this: HTMLDialogElement) {
    this.open = true
  }
  HTMLDialogElement.prototype.close ??= function close(this: HTMLDialogElement) {
    this.open = false
  }
}

/** The whole page at an address, over a node made of answers and a clock that moves only when told. */
export function renderPage(node: FakeNode, address: string): RenderedPage {
  completeJsdom()
  const clock = createManualClock(systemClock.now())
  const queryClient = createQueryClient()
  const router = createPageRouter(createMemoryHistory({ initialEntries: [address] }))
  const session = createSession(undefined)
  const client = createClient({
    fetch: session.watch(node.fetch),
    token: session.token,
    retries: 0,
    clock,
    random: { float: () => 0, bytes: (n) => new Uint8Array(n) },
  })
  // as the node does
  const beat = () => {
    node.heartbeat()
    cancelBeat = clock.after(EVENT_HEARTBEAT_MS, beat)
  }
  let cancelBeat = clock.after(EVENT_HEARTBEAT_MS, beat)
  render(
    <App
      client={client}
      queryClient={queryClient}
      router={router}
      clock={clock}
      session={session}
      fetch={node.fetch}
    />,
  )
  return {
    router,
    clock,
    close() {
      cancelBeat()
      cleanup()
      queryClient.clear()
    },
  }
}
