/** What the kernel counted of processes that are each alone in a network namespace: their CPU, their link, their dials. */
import { readFileSync } from 'node:fs'

export interface Counters {
  /** The time on a processor, of all threads, in s. */
  readonly cpuS: number
  /** Packets that the machine's link took out; those of the VPN that go over UDP or streams are among them. */
  readonly packets: number
  readonly bytes: number
  /** Datagrams over UDP that were sent: multicast DNS, probes of paths, and packets of the VPN. */
  readonly datagrams: number
  /** TCP connections that the machine began to dial, and of these those that nobody took. */
  readonly dials: number
  readonly failedDials: number
}

/** How many ticks the kernel counts in a second of a processor, on every Linux of today. */
const TICKS_PER_S = 100

const NONE: Counters = { cpuS: 0, packets: 0, bytes: 0, datagrams: 0, dials: 0, failedDials: 0 }

/** @param link the interface of the namespace that leads to the others */
export function readCounters(pid: number, link: string): Counters {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // the name, in parentheses, may hold anything
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const snmp = readFileSync(`/proc/${pid}/net/snmp`, 'utf8')
  const tcp = protocolCounters(snmp, 'Tcp')
  const line = readFileSync(`/proc/${pid}/net/dev`, 'utf8').split(`${link}:`)[1] ?? ''
  const device = (line.split('\n')[0] ?? '').trim().split(/\s+/).map(Number)
  return {
    cpuS: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_S,
    bytes: device[8] ?? 0,
    packets: device[9] ?? 0,
    datagrams: protocolCounters(snmp, 'Udp').get('OutDatagrams') ?? 0,
    dials: tcp.get('ActiveOpens') ?? 0,
    failedDials: tcp.get('AttemptFails') ?? 0,
  }
}

/** The kernel prints a line of names and then one of numbers. */
function protocolCounters(snmp: string, protocol: string): ReadonlyMap<string, number> {
  const [names = [], numbers = []] = snmp
    .split('\n')
    .filter((line) => line.startsWith(`${protocol}:`))
    .map((line) => line.split(' '))
  return new Map(names.map((name, at) => [name, Number(numbers[at])]))
}

export function sumOf(all: readonly Counters[]): Counters {
  return all.reduce((sum, each) => combine(sum, each, (a, b) => a + b), NONE)
}

export function since(before: Counters, after: Counters): Counters {
  return combine(before, after, (a, b) => b - a)
}

function combine(a: Counters, b: Counters, of: (a: number, b: number) => number): Counters {
  return {
    cpuS: of(a.cpuS, b.cpuS),
    packets: of(a.packets, b.packets),
    bytes: of(a.bytes, b.bytes),
    datagrams: of(a.datagrams, b.datagrams),
    dials: of(a.dials, b.dials),
    failedDials: of(a.failedDials, b.failedDials),
  }
}
