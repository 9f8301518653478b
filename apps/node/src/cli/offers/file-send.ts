/** `mesh file-send`: offers a file or folder to members. */
import { resolve } from 'node:path'
import { EXIT } from '../../errors.ts'
import { shellWord } from '../../words/shell-word.ts'
import { parseFile } from '../../settings/service-values.ts'
import type { Call, Run } from '../command.ts'
import type { Role } from '../run/run-node.ts'
import type { Asked } from './common-node.ts'
import { runOffer } from './run-offer.ts'
import { noteLeftOut } from './tell-received.ts'

export const runFileSend: Run = (call) => {
  const askFor = (text: string) => askForFile(text, call)
  const offer = { setting: 'fileSend', second: 'PATH', parse: parseFile, askFor } as const
  return runOffer(call, offer, call.settings.once ? untilReceived : undefined)
}

function askForFile(text: string, call: Call): Asked {
  const at = text.indexOf('=')
  const [name, path] = [text.slice(0, at), resolve(call.base, text.slice(at + 1))]
  return {
    async ask(client) {
      const view = await client.putNodeFile({ name, body: { Path: path } })
      const leftOut = { count: view.LeftOut, names: view.LeftOutNames }
      if (!call.settings.json) noteLeftOut(call, leftOut, `of ${name} will not be sent`)
      return view
    },
    told: `members receive ${path} as ${name}`,
    shown: 'mesh services',
    undo: `mesh file-remove ${shellWord(name)}`,
  }
}

const untilReceived: Role['work'] = async (sharing, signal) => {
  const isWhole = await sharing.received(signal)
  if (signal.aborted) return EXIT.interrupted.code
  return isWhole ? EXIT.ok.code : EXIT.incomplete.code
}
