/** `mesh file-send`: offers a file or folder to members. */
import { resolve } from 'node:path'
import { EXIT } from '../../errors.ts'
import { shellWord } from '../../words/shell-word.ts'
import { parseFile } from '../../settings/service-values.ts'
import type { Run } from '../command.ts'
import { type Asked, askCommonNode } from './common-node.ts'
import { instanceOf } from './named-address.ts'
import { readPairs } from './read-pairs.ts'
import { runNode } from '../run/run-node.ts'
import { noteLeftOut } from './tell-received.ts'

export const runFileSend: Run = async (call) => {
  const { settings, base } = call
  const isOptional = settings.fileSend.length > 0
  const pairs = readPairs(call, { second: 'PATH', parse: parseFile, isOptional })
  const fileSend = [...pairs, ...settings.fileSend]
  const asked = fileSend.map((text): Asked => {
    const at = text.indexOf('=')
    const [name, path] = [text.slice(0, at), resolve(base, text.slice(at + 1))]
    return {
      async ask(client) {
        const view = await client.putNodeFile({ name, body: { Path: path } })
        const leftOut = { count: view.LeftOut, names: view.LeftOutNames }
        if (!settings.json) noteLeftOut(call, leftOut, `of ${name} will not be sent`)
        return view
      },
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
        const isWhole = await sharing.received(signal)
        if (signal.aborted) return EXIT.interrupted.code
        return isWhole ? EXIT.ok.code : EXIT.incomplete.code
      },
    }),
  })
}
