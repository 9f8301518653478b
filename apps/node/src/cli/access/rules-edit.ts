/** Changes the policy in force in an editor: `mesh rules edit`. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { RulesView } from '@mesh/api-contract'
import { MeshError, toError } from '@mesh/core'
import { EXIT } from '../../errors.ts'
import { readNamedFile } from '../../files/read-named-file.ts'
import { shellWord } from '../../words/shell-word.ts'
import type { Call, Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { MAX_POLICY_BYTES, signPolicy } from './rules-changes.ts'

const HEAD = '# Who may reach what in this network. docs/access-rules.md has the form of this file.\n'
/** The text in the editor while the network has no policy. */
const FIRST = `default: allow
groups: {}   # people:   ops: [laptop-1]
tags: {}     # machines: web: [web-1, web-2]
allow: []    # with default: refuse, the flows that are allowed, each as
             #   - { from: [group:ops], to: [tag:web], on: [tcp:443, icmp] }
tests: []    #   - { from: laptop-1, to: web-1, on: tcp:443, expect: allow }
`

export const runRulesEdit: Run = async (call) => {
  const client = await findNode(call)
  const { Network } = await client.getRules()
  const folder = mkdtempSync(join(tmpdir(), 'mesh-rules-'))
  const file = join(folder, 'rules.yaml')
  const before = startText(Network)
  writeFileSync(file, before, { mode: 0o600 })
  await runEditor(call, file)
  const { text } = readNamedFile(file, MAX_POLICY_BYTES)
  if (text === before) {
    rmSync(folder, { recursive: true })
    call.note('Nothing was changed.')
    return EXIT.ok.code
  }
  try {
    await signPolicy(call, client, { text, serial: Network?.Serial ?? 0 })
  } catch (error) {
    call.note(
      `What you wrote is in ${file}: change it, and give it to \`mesh rules set ${shellWord(file)}\`.`,
    )
    throw error
  }
  rmSync(folder, { recursive: true })
  return EXIT.ok.code
}

function startText(network: RulesView['Network']): string {
  if (network === null) return `${HEAD}${FIRST}`
  return `${HEAD}# Policy ${network.Serial}, signed at ${network.SignedAt}.\n${network.Text}`
}

/** The editor's command may have arguments, as in `code --wait`. @throws MeshError `node.no_editor` */
async function runEditor({ surroundings: { environment } }: Call, file: string): Promise<void> {
  const editor = environment['VISUAL'] || environment['EDITOR'] || 'vi'
  const hint = 'Say which one in EDITOR, or change a file and give it to `mesh rules set FILE`.'
  const child = spawn(`${editor} ${shellWord(file)}`, { shell: true, stdio: 'inherit' })
  try {
    const [code] = await once(child, 'exit')
    if (code === 0) return
    throw new Error(`it ended with ${code}`)
  } catch (error) {
    throw new MeshError('node.no_editor', `the editor ${editor} failed: ${toError(error).message}`, { hint })
  }
}
