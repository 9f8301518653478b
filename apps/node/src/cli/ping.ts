/** `mesh ping MACHINE`: one line for each answer, with the way it came. */
import { ApiError } from '@mesh/api-client'
import type { VpnPingView } from '@mesh/api-contract'
import { stringifyExactJson, systemClock } from '@mesh/core'
import { EXIT } from '../errors.ts'
import { printable } from '../log/printable.ts'
import type { Call, Run } from './command.ts'
import { findNode } from './find-node.ts'

const INTERVAL_MS = 1_000

export const runPing: Run = async (call) => {
  const { positionals, settings } = call
  const [machine = ''] = positionals
  const client = await findNode(call)
  const asked = new AbortController()
  // the first Ctrl-C ends it with what was learned so far
  process.once('SIGINT', () => asked.abort())
  let answers = 0
  for (let turn = 1; !asked.signal.aborted; turn++) {
    try {
      const answer = await client.pingMachine({ machine }, { signal: asked.signal })
      answers++
      call.out(settings.json ? `${stringifyExactJson(answer)}\n` : `${formatPing(answer)}\n`)
    } catch (error) {
      if (asked.signal.aborted) break
      if (!(error instanceof ApiError) || error.code !== 'vpn.unreachable') throw error
      tellFailure(machine, error, call)
    }
    if (turn === settings.count) break
    await pause(asked.signal)
  }
  return answers > 0 ? EXIT.ok.code : EXIT.failed.code
}

/** `laptop (10.1.0.12) by direct tcp: 1.9 ms, MTU 1280` */
export function formatPing({ Hostname, Address, PeerID, ...measured }: VpnPingView): string {
  const { Way, Path, Transport, RoundTripMs, MTU } = measured
  const address = Address === '' ? PeerID : Address
  const name = Hostname === '' ? address : `${Hostname} (${address})`
  const way = [Path, Transport ?? 'connection', ...(Way === 'plain' ? ['unsealed'] : [])].join(' ')
  return printable(`${name} by ${way}: ${RoundTripMs.toFixed(1)} ms, MTU ${MTU}`)
}

/** Until the next turn, or the end. */
function pause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = systemClock.after(INTERVAL_MS, end, { keepAlive: true })
    signal.addEventListener('abort', end)
  })
}

function tellFailure(machine: string, { code, message }: ApiError, { settings, out, note }: Call): void {
  if (settings.json) out(`${stringifyExactJson({ Code: code, Message: message })}\n`)
  else note(printable(`no answer from ${machine}: ${message}`))
}
