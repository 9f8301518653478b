/** A server of OpenSSH on loopback with keys of its own, to compare with. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { eventually, freePort } from '@mesh/testkit'

export interface Sshd {
  /** What `ssh` and `scp` need to come in without a question; `-p` or `-P` with the port is not among it. */
  readonly options: readonly string[]
  readonly port: number
  /** `user@127.0.0.1`. */
  readonly target: string
}

const TOOLS = ['ssh', 'scp', 'ssh-keygen', '/usr/sbin/sshd']

/** Undefined where OpenSSH is installed, else the reason. */
export function whyNoSshd(): string | undefined {
  const missing = TOOLS.find((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
  return missing === undefined ? undefined : `${missing} is not installed`
}

export async function openSshd(ends: (() => unknown)[]): Promise<Sshd> {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-ssh-'))
  ends.push(() => rmSync(folder, { recursive: true, force: true }))
  const [hostKey, userKey, config] = [join(folder, 'host'), join(folder, 'user'), join(folder, 'config')]
  for (const key of [hostKey, userKey])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
  mkdirSync('/run/sshd', { recursive: true })
  const port = await freePort()
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    `HostKey ${hostKey}`,
    `AuthorizedKeysFile ${userKey}.pub`,
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    'PermitRootLogin prohibit-password',
    'MaxSessions 1000',
    'Subsystem sftp internal-sftp',
  ]
  writeFileSync(config, `${lines.join('\n')}\n`)
  const server = spawn('/usr/sbin/sshd', ['-D', '-f', config], { stdio: 'ignore' })
  ends.push(() => endProcess(server))
  await eventually(() => reachable(port))
  const options = [
    ['-i', userKey, '-F', 'none', '-o', 'IdentitiesOnly=yes', '-o', 'StrictHostKeyChecking=no'],
    ['-o', `UserKnownHostsFile=${join(folder, 'known')}`, '-o', 'LogLevel=ERROR'],
  ].flat()
  return { options, port, target: `${userInfo().username}@127.0.0.1` }
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGTERM')
  await gone
}

export function reachable(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.destroy()
      resolve()
    })
  })
}
