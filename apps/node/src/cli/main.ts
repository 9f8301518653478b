/** Joins the command line to this process: its words, its streams, its end. */
import { basename } from 'node:path'
import { MeshError } from '@mesh/core'
import { printableText } from '../words/printable.ts'
import { runCommandLine } from './run-command-line.ts'

export async function main(): Promise<void> {
  // `mesh ledger list | head` ends our output early, which is no error
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0)
    process.stderr.write(`mesh: the output could not be written: ${error.message}\n`)
    process.exit(1)
  })
  // whoever read the log is gone: the network must not go with it, and an error told to nobody is told for ever
  process.stderr.on('error', () => {})
  const { argv, argv0, env } = process
  process.exitCode = await runCommandLine(argv.slice(2), {
    isEdgevpn: [env['MESH_COMMAND'], argv[1], argv0].some(isEdgevpnName),
    surroundings: { environment: process.env, workingDirectory: process.cwd() },
    isTerminal: process.stdout.isTTY === true,
    isErrorTerminal: process.stderr.isTTY === true,
    // whatever a command prints may hold what other members wrote
    out: (text) => process.stdout.write(printableText(text)),
    note: (line) => process.stderr.write(`${printableText(line)}\n`),
    draw: (text) => process.stderr.write(text),
    readInput,
  })
}

/** A link of that name makes this program a drop-in for EdgeVPN. */
function isEdgevpnName(path: string | undefined): boolean {
  return path !== undefined && basename(path, '.exe') === 'edgevpn'
}

async function readInput(maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > maxBytes) {
      throw new MeshError('node.bad_input', `standard input has more than ${maxBytes} bytes`)
    }
  }
  return Buffer.concat(chunks).toString('utf8')
}
