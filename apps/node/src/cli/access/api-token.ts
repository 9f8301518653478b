/** `mesh api-token`: the tokens that the API of a node asks for, in the file that `--api-token-file` names. */
import { createToken, parseTokenLine, parseTokenList } from '@mesh/api-server'
import { MeshError, printable, systemRandom } from '@mesh/core'
import { printableJson } from '../../words/printable.ts'
import { shellWord } from '../../words/shell-word.ts'
import { changeTokenFile, readTokenFile } from '../../state/api-tokens.ts'
import type { Call, Run } from '../command.ts'
import { formatTable } from '../format-table.ts'

export const runApiTokenCreate: Run = async (call) => {
  const { settings, out, note } = call
  const file = fileOf(call)
  const name = nameOf(call)
  const { level } = settings
  const { token, line } = createToken({ level, name }, systemRandom)
  changeTokenFile(file, (lines) => {
    if (parseTokenList(lines.join('\n')).tokens.some((known) => known.name === name)) {
      throw new MeshError('node.bad_input', `there is a token ${JSON.stringify(name)} already`, {
        hint: `Choose another name, or take it out first: mesh api-token revoke ${shellWord(name)}`,
      })
    }
    return [...lines, line]
  })
  if (settings.json) out(printableJson({ Name: name, Level: level, Token: token }, 2))
  else {
    out(`${token}\n`)
    note(
      `Shown this once; ${file} holds its hash alone. A node asks for it with --api-token-file ${shellWord(file)}`,
    )
  }
  return 0
}

export const runApiTokenList: Run = async (call) => {
  const { tokens, issues } = readTokenFile(fileOf(call))
  const rows = tokens.map(({ name, level, plain }) => ({
    Name: name,
    Level: level,
    Kept: plain === undefined ? 'hash' : 'plain',
  }))
  if (call.settings.json) call.out(printableJson(rows, 2))
  else {
    const cells = rows.map(({ Name, Level, Kept }) => [Name === '' ? '-' : printable(Name), Level, Kept])
    call.out(cells.length === 0 ? 'No tokens.\n' : formatTable(['NAME', 'LEVEL', 'KEPT AS'], cells))
  }
  for (const { field, expected } of issues) call.note(`mesh: ${field} is no token: expected ${expected}`)
  return 0
}

export const runApiTokenRevoke: Run = async (call) => {
  const name = nameOf(call)
  changeTokenFile(fileOf(call), (lines) => {
    const kept = lines.filter((line) => parseTokenLine(line)?.name !== name)
    if (kept.length < lines.length) return kept
    throw new MeshError('node.bad_input', `there is no token ${JSON.stringify(name)}`, {
      hint: '`mesh api-token list` lists them; one without a name is taken out of the file by hand.',
    })
  })
  call.out(
    call.settings.json
      ? printableJson({ Name: name, Revoked: true })
      : 'revoked; nodes notice by themselves\n',
  )
  return 0
}

function fileOf({ settings }: Call): string {
  if (settings.apiTokenFile !== undefined) return settings.apiTokenFile
  throw new MeshError('node.bad_input', 'which file of tokens is meant?', {
    hint: 'Name it with --api-token-file FILE, as for the node that asks for them.',
  })
}

/** A name is words, so that it can stand at the end of a line. */
function nameOf({ positionals }: Call): string {
  const name = (positionals[0] ?? '').trim()
  if (/^[\p{L}\p{N}][\p{L}\p{N} ._@-]{0,63}$/u.test(name) && !/ {2}/.test(name)) return name
  throw new MeshError('node.bad_input', `a token cannot be called ${JSON.stringify(name)}`, {
    hint: 'A name has 1 to 64 letters, digits, spaces and . _ @ -.',
  })
}
