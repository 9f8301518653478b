/** `mesh file-send` and `mesh file-receive`: files and folders between members. */
import { resolve } from 'node:path'
import { shortPeerId, systemClock } from '@mesh/core'
import type { ReceivedFile } from '@mesh/services'
import { EXIT } from '../errors.ts'
import { printable, printableJson } from '../log/printable.ts'
import { shellWord } from '../log/shell-word.ts'
import { parseFile } from '../settings/service-values.ts'
import type { Run } from './command.ts'
import { type Asked, askCommonNode } from './common-node.ts'
import { formatBytes } from './format-quantity.ts'
import { instanceOf } from './named-address.ts'
import { readPairs } from './read-pairs.ts'
import { runNode } from './run-node.ts'
import { createTransferDisplay } from './show-transfer.ts'

export const runFileSend: Run = async (call) => {
  const { settings, base } = call
  const isOptional = settings.fileSend.length > 0
  const pairs = readPairs(call, { second: 'PATH', parse: parseFile, isOptional })
  const fileSend = [...pairs, ...settings.fileSend]
  const asked = fileSend.map((text): Asked => {
    const at = text.indexOf('=')
    const [name, path] = [text.slice(0, at), resolve(base, text.slice(at + 1))]
    return {
      ask: (client) => client.putNodeFile({ name, body: { Path: path } }),
      told: `members receive ${path} as ${name}`,
      shown: 'mesh services',
      undo: `mesh file-remove ${shellWord(name)}`,
    }
  })
  // a node that others need does not end after one transfer
  if (!settings.once && (await askCommonNode(call, asked))) return EXIT.ok.code
  const [first = ''] = fileSend
  return runNode(call, {
    listen: undefined,
    hasVpn: false,
    settings: { fileSend },
    instance: instanceOf('file-send', first.slice(0, first.indexOf('='))),
    ...(settings.once && {
      async work(sharing, signal) {
        await sharing.received(signal)
        return signal.aborted ? EXIT.interrupted.code : EXIT.ok.code
      },
    }),
  })
}

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
