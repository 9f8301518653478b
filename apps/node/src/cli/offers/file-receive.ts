/** `mesh file-receive`: takes a file or folder that a member offers. */
import { resolve } from 'node:path'
import { shortPeerId, systemClock } from '@mesh/core'
import { EXIT } from '../../errors.ts'
import type { Run } from '../command.ts'
import { findCommonNode } from '../find-node.ts'
import { receiveByNode } from './receive-by-node.ts'
import { runNode } from '../run/run-node.ts'
import { createTransferDisplay } from './show-transfer.ts'
import { KEPT_NOTE, tellReceived } from './tell-received.ts'

export const runFileReceive: Run = async (call) => {
  const [name = '', path = '.'] = call.positionals
  // the path keeps a slash at its end, which says that it is a folder
  const destination = resolve(call.base, path) + (/[/\\]$/.test(path) ? '/' : '')
  const common = call.settings.ownNode ? undefined : await findCommonNode(call)
  if (common !== undefined) {
    const asked = new AbortController()
    process.once('SIGINT', () => asked.abort())
    process.once('SIGTERM', () => asked.abort())
    const init = { name, destination, signal: asked.signal }
    return receiveByNode(init, { call, client: common.client, clock: systemClock })
  }
  return runNode(call, {
    listen: undefined,
    hasVpn: false,
    // the files are what is kept, not who fetched them
    settings: { ephemeral: call.sources.instance.level === 'default' },
    async work(sharing, signal) {
      const now = () => systemClock.now()
      const display = createTransferDisplay({ name, nameOf: shortPeerId }, { call, now })
      const began = now()
      try {
        const received = await sharing.receive({
          name,
          destination,
          signal,
          onState: display.show,
        })
        display.end()
        return tellReceived(name, received, { call, tookMs: now() - began })
      } catch (error) {
        display.end()
        if (!signal.aborted) throw error
        call.note(KEPT_NOTE)
        return EXIT.interrupted.code
      }
    },
  })
}
