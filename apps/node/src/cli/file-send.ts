/** `mesh file-send`: offers a file or folder to members. */
import { resolve } from 'node:path'
import { MeshError } from '@mesh/core'
import { EXIT } from '../errors.ts'
import { shellWord } from '../log/shell-word.ts'
import { parseFile } from '../settings/service-values.ts'
import type { Call, Run } from './command.ts'
import { type Asked, askCommonNode } from './common-node.ts'
import { instanceOf } from './named-address.ts'
import { runNode } from './run-node.ts'

export const runFileSend: Run = async (call) => {
  const { settings, base } = call
  const fileSend = [...argumentsOf(call), ...settings.fileSend]
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

/** NAME and PATH; none where only flags name files. @throws MeshError `node.bad_input` */
function argumentsOf({ positionals, settings }: Call): readonly string[] {
  const [name, path] = positionals
  if (name === undefined && settings.fileSend.length > 0) return []
  if (name === undefined || path === undefined) {
    throw new MeshError('node.bad_input', `${name === undefined ? 'NAME' : 'PATH'} is missing`, {
      hint: 'Usage: mesh file-send NAME PATH',
    })
  }
  const parsed = parseFile(`${name}=${path}`)
  if ('expected' in parsed) {
    throw new MeshError('node.bad_input', `${JSON.stringify(name)} cannot be a name`, {
      hint: parsed.expected,
    })
  }
  return [`${name}=${path}`]
}
