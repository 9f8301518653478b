/**
 * Has this machine ask its private network's DNS (`--dns-configure`), without depending on it: systemd-resolved gets
 * the zone alone, for as long as the interface is there; without it /etc/resolv.conf names this node before the
 * servers that were there, which answer when this node does not. Nothing is done twice, and all of it is taken back.
 */
import { execFile } from 'node:child_process'
import { lstatSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { HealthProblem } from '@mesh/api-server'
import type { BoundAddress, DnsStatus } from '@mesh/dns'
import { thisProcess } from '../state/process-record.ts'
import { writeStateFile } from '../state/state-file.ts'
import type { Ends } from './ends.ts'
import type { JoinInit } from './join-init.ts'
import { asksForAll } from '../exit/exit-resolver.ts'
import { isMarked, withNameServer } from './resolv-conf.ts'
import { recordPath, RESOLV_CONF, restoreResolver, type SavedResolver } from './restore-resolver.ts'

const RESOLVECTL_MS = 3_000
const DNS_PORT = 53

/** @returns why it was not done, where that is so; the machine's names work as before then */
export async function configureResolver(init: JoinInit, ends: Ends): Promise<HealthProblem | undefined> {
  const status = init.dns.status()
  const place = status?.listening[0]
  if (status === undefined || place === undefined) return notDone('no address of --dns could be had')
  if (await hasResolved()) return configureResolved(init, { status, place }, ends)
  return configureFile(init, place, ends)
}

interface Serving {
  readonly status: DnsStatus
  readonly place: BoundAddress
}

async function configureResolved(
  { hasVpn, settings, log }: JoinInit,
  { status, place }: Serving,
  ends: Ends,
): Promise<HealthProblem | undefined> {
  if (!hasVpn) return notDone('systemd-resolved takes DNS servers by interface, and this node makes none')
  const link = settings.interface
  ends.add(() => resolvectl('revert', link).catch(() => {}))
  try {
    await resolvectl('dns', link, reachable(place))
    // the servers of other interfaces are asked past an exit node: this one is asked for all then, and forwards
    const forAll = asksForAll(settings)
    const domains = status.zones.map((zone) => `~${zone.slice(0, -1)}`)
    await resolvectl('domain', link, ...domains, ...(forAll ? ['~.'] : []))
    await resolvectl('default-route', link, forAll ? 'yes' : 'no')
  } catch (error) {
    return notDone(`resolvectl failed (${error instanceof Error ? error.message.split('\n')[0] : 'unknown'})`)
  }
  log.info('resolver configured', { by: 'systemd-resolved', link, zones: status.zones })
  return undefined
}

function configureFile(
  { stateDir, log }: JoinInit,
  place: BoundAddress,
  ends: Ends,
): HealthProblem | undefined {
  if (place.port !== DNS_PORT) return notDone('/etc/resolv.conf knows port 53 alone')
  try {
    const saved = saveFile(stateDir, hostOf(place))
    ends.add(() => restoreResolver(stateDir, log, { own: true }))
    writeResolvConf(saved)
  } catch (error) {
    return notDone(error instanceof Error ? error.message : String(error))
  }
  log.info('resolver configured', { by: RESOLV_CONF })
  return undefined
}

/** Written down before anything is changed. */
function saveFile(stateDir: string, address: string): SavedResolver {
  const link = lstatSync(RESOLV_CONF).isSymbolicLink() ? readlinkSync(RESOLV_CONF) : undefined
  const text = readFileSync(RESOLV_CONF, 'utf8')
  if (isMarked(text)) throw new Error('another node of mesh has configured /etc/resolv.conf already')
  const saved = { ...thisProcess(), link, text, written: withNameServer(text, address) }
  writeStateFile(recordPath(stateDir), saved)
  return saved
}

/** Writes the file in place where it cannot be replaced: containers mount it. */
function writeResolvConf({ link, written }: SavedResolver): void {
  if (link !== undefined) rmSync(RESOLV_CONF)
  writeFileSync(RESOLV_CONF, written)
}

async function hasResolved(): Promise<boolean> {
  return resolvectl('status').then(
    () => true,
    () => false,
  )
}

async function resolvectl(...args: readonly string[]): Promise<void> {
  await promisify(execFile)('resolvectl', [...args], { timeout: RESOLVECTL_MS })
}

function reachable(place: BoundAddress): string {
  const host = hostOf(place)
  if (place.port === DNS_PORT) return host
  return host.includes(':') ? `[${host}]:${place.port}` : `${host}:${place.port}`
}

/** Whoever listens everywhere is found on loopback. */
function hostOf({ host }: BoundAddress): string {
  return host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
}

function notDone(reason: string): HealthProblem {
  return {
    code: 'dns.not_configured',
    severity: 'warning',
    title: `This machine does not resolve names through its private network: ${reason}`,
    hint: 'Names work as before; tools that take a server, such as dig, can ask the address of --dns.',
  }
}
