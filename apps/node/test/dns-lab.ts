/** What DNS is tested and measured with: dig, kdig, dnsperf, and dnsmasq as the server of other names. */
import { spawn, spawnSync } from 'node:child_process'
import { eventually, freePort } from '@mesh/testkit'

/** Undefined when the tools are there, else which is not. */
export function whyNoDnsTools(tools: readonly string[] = ['dig', 'kdig', 'dnsmasq']): string | undefined {
  const missing = tools.find((tool) => spawnSync('sh', ['-c', `command -v ${tool}`]).status !== 0)
  return missing === undefined ? undefined : `${missing} is not installed`
}

/** Standard output; rejects when the tool fails. */
export function runTool(file: string, words: readonly string[]): Promise<string> {
  const child = spawn(file, [...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, error] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (part: string) => (out += part))
  child.stderr.setEncoding('utf8').on('data', (part: string) => (error += part))
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${file} ${words.join(' ')}: ${code} ${out}${error}`)),
    )
  })
}

/** What `dig` prints of a question to a port of loopback. */
export function dig(port: number, ...words: readonly string[]): Promise<string> {
  return runTool('dig', ['@127.0.0.1', '-p', String(port), '+tries=1', '+time=6', ...words])
}

export interface Dnsmasq {
  readonly port: number
  stop(): Promise<void>
}

/** dnsmasq in the foreground, on a port of loopback alone, without the machine's own names. */
export async function startDnsmasq(args: readonly string[]): Promise<Dnsmasq> {
  const port = await freePort()
  const own = ['-k', '-p', String(port), '--listen-address=127.0.0.1', '--bind-interfaces', '--no-resolv']
  const child = spawn('dnsmasq', [...own, '--no-hosts', '--pid-file=', '--conf-file=/dev/null', ...args], {
    stdio: 'ignore',
  })
  await eventually(() => dig(port, '+short', 'probe.invalid'), { withinMs: 10_000 })
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await gone
  }
  return { port, stop }
}
