/**
 * Questions per second that dnsperf gets answered, of ours and of dnsmasq in the same run, turn by turn: a host name,
 * names that 1,000 patterns have, and names of others out of the cache. Ratios are ours to dnsmasq's, and for the
 * patterns also ours with 1,000 to ours with one.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@mesh/testkit'
import { runTool, startDnsmasq, whyNoDnsTools } from '../../apps/node/test/dns-lab.ts'
import { createMesh, makeToken, type NodeProcess } from '../../apps/node/test/harness.ts'
import { median } from './statistics.ts'
import { until } from './until.ts'

const SECONDS = '3'
const TURNS = 3
const PATTERNS = 1_000
const NAMES = 200

export async function measureDns() {
  const skipped = whyNoDnsTools(['dnsperf', 'dnsmasq'])
  if (skipped !== undefined) return { skipped }
  const mesh = createMesh()
  const folder = mkdtempSync(join(tmpdir(), 'mesh-bench-dns-'))
  const ends: (() => Promise<void>)[] = []
  try {
    const upstream = await startDnsmasq(['--address=/example.org/192.0.2.80', '--local-ttl=3600'])
    ends.push(upstream.stop)
    const cached = [`--server=127.0.0.1#${upstream.port}`, '--cache-size=10000']
    const named = [...cached, '--host-record=laptop.mesh,10.1.0.5', ...dnsmasqNames()]
    const dnsmasq = await startDnsmasq(named)
    ends.push(dnsmasq.stop)
    const start = (port: number) =>
      mesh.start({
        token: makeToken(),
        built: true,
        args: [`--dns=127.0.0.1:${port}`, `--dns-forward-server=127.0.0.1:${upstream.port}`],
        until: 'dns listening',
      })
    const [ours, onePatternPort] = [await freePort(), await freePort()]
    const [many, one] = [await start(ours), await start(onePatternPort)]
    await fill(many, PATTERNS)
    await fill(one, 1)
    const files = {
      host: questions(folder, 'host', ['laptop.mesh']),
      patterns: questions(folder, 'patterns', patternNames(PATTERNS)),
      pattern: questions(folder, 'pattern', patternNames(1)),
      forward: questions(
        folder,
        'forward',
        Array.from({ length: NAMES }, (_, at) => `n${at}.example.org`),
      ),
    }
    const host = await compare([ours, dnsmasq.port], files.host)
    const patterns = await compare([ours, dnsmasq.port], files.patterns)
    const forward = await compare([ours, dnsmasq.port], files.forward)
    const { first: onePattern, second: manyPatterns } = await turns([
      [onePatternPort, files.pattern],
      [ours, files.patterns],
    ])
    // how many times as much a question costs with 1,000 patterns
    const cost = ratio(onePattern, manyPatterns)
    return { host, patterns, forward, ours: { onePattern, manyPatterns, cost } }
  } finally {
    await Promise.all(ends.map((end) => end()))
    await mesh.cleanUp()
    rmSync(folder, { recursive: true })
  }
}

function patternNames(count: number): readonly string[] {
  return Array.from({ length: Math.min(count, NAMES) }, (_, at) => `x.service-${at * 5}.lab.mesh`)
}

function dnsmasqNames(): readonly string[] {
  return Array.from({ length: PATTERNS }, (_, at) => `--address=/service-${at}.lab.mesh/10.1.0.7`)
}

async function fill(node: NodeProcess, patterns: number): Promise<void> {
  const machine = {
    PeerID: node.id,
    Hostname: 'laptop',
    OS: 'linux',
    Arch: 'amd64',
    Address: '10.1.0.5',
    Version: '',
  }
  await node.client.putJson({ bucket: 'machines', key: '10.1.0.5', body: machine, wait: '20s' })
  const records = Array.from({ length: patterns }, (_, at) => ({
    Regex: `[a-z]+\\.service-${at}\\.lab\\.mesh\\.$`,
    Records: { A: '10.1.0.7' },
  }))
  for (const body of records) await node.client.createDns({ body })
  await until(async () => (await node.client.getDnsServer()).Patterns >= patterns, 60_000)
}

function questions(folder: string, name: string, names: readonly string[]): string {
  const file = join(folder, name)
  writeFileSync(file, names.map((each) => `${each} A\n`).join(''))
  return file
}

async function compare([ours, dnsmasq]: readonly [number, number], file: string) {
  const { first, second } = await turns([
    [ours, file],
    [dnsmasq, file],
  ])
  return { ours: first, dnsmasq: second, ratio: ratio(first, second) }
}

/** Medians of the two, measured one after the other, several times. */
async function turns([a, b]: readonly [readonly [number, string], readonly [number, string]]) {
  const [first, second]: [number[], number[]] = [[], []]
  for (let turn = 0; turn < TURNS; turn++) {
    first.push(await questionsPerSecond(...a))
    second.push(await questionsPerSecond(...b))
  }
  return { first: median(first), second: median(second) }
}

async function questionsPerSecond(port: number, file: string): Promise<number> {
  const words = ['-s', '127.0.0.1', '-p', String(port), '-d', file, '-l', SECONDS, '-c', '4', '-q', '100']
  const out = await runTool('dnsperf', words)
  const [, answered = ''] = /Queries completed:\s+\d+ \(([\d.]+)%\)/.exec(out) ?? []
  const [, perSecond = ''] = /Queries per second:\s+([\d.]+)/.exec(out) ?? []
  if (Number(answered) < 99 || !out.includes('NOERROR')) throw new Error(`dnsperf on ${port}: ${out}`)
  return Math.round(Number(perSecond))
}

function ratio(a: number, b: number): number {
  return Math.round((a / b) * 100) / 100
}
