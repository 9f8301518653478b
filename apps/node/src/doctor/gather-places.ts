/** Tries the addresses that a node with these settings would listen on, so that the doctor can say which are taken. */
import { createSocket } from 'node:dgram'
import { createServer } from 'node:net'
import { parseListenAddress } from '@mesh/api-server'
import type { Clock } from '@mesh/core'
import { parseDnsPlace } from '../settings/dns-values.ts'
import { flagOf, type OptionName, optionOf, type Settings } from '../settings/options.ts'
import type { WantedPlace } from './facts.ts'
import { tried } from './tried.ts'

interface Place {
  readonly option: OptionName
  readonly protocol: 'tcp' | 'udp'
  /** Undefined: every address of the machine. */
  readonly host: string | undefined
  readonly port: number
}

type PortSettings = Pick<Settings, 'listen' | 'apiListen' | 'listenMaddrs' | 'udpPort' | 'dns'>

/** Binds each for a moment. Free ports (0) and unix sockets are left out. */
export async function gatherPlaces(settings: PortSettings, clock: Clock): Promise<readonly WantedPlace[]> {
  const places = placesOf(settings)
  return await Promise.all(
    places.map(async (place) => ({
      option: `--${flagOf(place.option)}`,
      isDefault: settings[place.option as keyof PortSettings] === optionOf(place.option).default,
      tried: await tried(() => (place.protocol === 'tcp' ? listenTcp(place) : bindUdp(place)), clock),
    })),
  )
}

function placesOf({ listen, apiListen, listenMaddrs, udpPort, dns }: PortSettings): readonly Place[] {
  const all = [
    ...httpPlace('listen', listen),
    // one address is tried once: two tries at the same time would meet each other
    ...(apiListen === listen ? [] : httpPlace('apiListen', apiListen)),
    ...listenMaddrs.flatMap(maddrPlace),
    { option: 'udpPort', protocol: 'udp', host: undefined, port: udpPort } as const,
    ...dns.flatMap(dnsPlaces),
  ]
  return all.filter(({ port }) => port > 0)
}

function httpPlace(option: OptionName, text: string): readonly Place[] {
  const address = parseListenAddress(text)
  return address.kind === 'tcp' ? [{ option, protocol: 'tcp', host: address.host, port: address.port }] : []
}

function maddrPlace(maddr: string): readonly Place[] {
  const [, host, protocol, port] = /^\/ip[46]\/([^/]+)\/(tcp|udp)\/(\d+)(?:\/|$)/.exec(maddr) ?? []
  if (host === undefined || (protocol !== 'tcp' && protocol !== 'udp')) return []
  return [{ option: 'listenMaddrs', protocol, host, port: Number(port) }]
}

function dnsPlaces(text: string): readonly Place[] {
  const parsed = parseDnsPlace(text)
  if (!('value' in parsed)) return []
  const { host, port } = parsed.value
  return (['tcp', 'udp'] as const).map((protocol) => ({ option: 'dns', protocol, host, port }))
}

export function listenTcp({ host, port }: Pick<Place, 'host' | 'port'>): Promise<void> {
  const server = createServer()
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ port, ...(host !== undefined && { host }) }, () => server.close(() => resolve()))
  })
}

export function bindUdp({ host, port }: Pick<Place, 'host' | 'port'>): Promise<void> {
  const socket = createSocket(host?.includes(':') === true ? 'udp6' : 'udp4')
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close()
      reject(error)
    })
    socket.bind(port, host, () => socket.close(() => resolve()))
  })
}
