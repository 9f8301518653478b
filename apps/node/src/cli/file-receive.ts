/** `mesh file-receive`: takes a file or folder that a member offers. */
import { resolve } from 'node:path'
import { shortPeerId, systemClock } from '@mesh/core'
import type { ReceivedFile } from '@mesh/services'
import { EXIT } from '../errors.ts'
import { printable, printableJson } from '../log/printable.ts'
import type { Run } from './command.ts'
import { formatBytes } from './format-quantity.ts'
import { runNode } from './run-node.ts'
import { createTransferDisplay } from './show-transfer.ts'

export const runFileReceive: Run = (call) => {
  const [name = '', path = '.'] = call.positionals
  // the path keeps a slash at its end, which says that it is a folder
  const destination = resolve(call.base, path) + (/[/\\]$/.test(path) ? '/' : '')
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
          processId: process.pid,
          signal,
          onState: display.show,
        })
        display.end()
        call.out(call.settings.json ? jsonLine(name, received) : humanLine(name, received, now() - began))
        return EXIT.ok.code
      } catch (error) {
        display.end()
        if (!signal.aborted) throw error
        call.note('What has come is kept; the same command goes on with it.')
        return EXIT.interrupted.code
      }
    },
  })
}

function humanLine(name: string, { path, bytes, isVerified }: ReceivedFile, tookMs: number): string {
  const rate = tookMs > 0 ? `, ${formatBytes(Math.round((bytes / tookMs) * 1_000))}/s` : ''
  const verified = isVerified ? 'verified' : 'not verified: the sender is EdgeVPN-compatible and says no hash'
  return `${printable(`${name}: ${path} (${formatBytes(bytes)}${rate}, ${verified})`)}\n`
}

function jsonLine(name: string, { path, bytes, isVerified, provider }: ReceivedFile): string {
  const view = {
    Name: name,
    State: 'received',
    Path: path,
    Bytes: bytes,
    Verified: isVerified,
    Provider: provider,
  }
  return printableJson(view)
}
