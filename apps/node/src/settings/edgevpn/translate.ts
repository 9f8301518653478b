/**
 * Translates a command line and environment of EdgeVPN.
 *
 * 1. Reads the words as Go does.
 * 2. Adds the environment.
 * 3. Gives each flag its option here.
 * 4. Adds EdgeVPN's defaults.
 */
import { optionsOf, flagOf } from '../options.ts'
import { type EdgevpnFlag, type EdgevpnPlace, flagsAt } from './flags.ts'
import { toLogLevel, toSwitch, within } from './go-values.ts'
import { readGoWords } from './read-go-words.ts'

export interface Translated {
  readonly args: readonly string[]
  /** Flags and variables of EdgeVPN that were given and have no effect here. */
  readonly ignored: readonly string[]
}

type Environment = Readonly<Record<string, string | undefined>>

const COMMANDS: ReadonlyMap<string, { readonly name: string; readonly place: EdgevpnPlace }> = new Map([
  ['', { name: '', place: 'main' }],
  ['api', { name: 'api', place: 'api' }],
  ['start', { name: 'start', place: 'main' }],
  ['dns', { name: 'dns', place: 'dns' }],
  ['proxy', { name: 'proxy', place: 'proxy' }],
  ['service-add', { name: 'service-add', place: 'service' }],
  ['sa', { name: 'service-add', place: 'service' }],
  ['service-connect', { name: 'service-connect', place: 'service' }],
  ['sc', { name: 'service-connect', place: 'service' }],
  ['file-send', { name: 'file-send', place: 'file' }],
  ['fs', { name: 'file-send', place: 'file' }],
  ['file-receive', { name: 'file-receive', place: 'file' }],
  ['fr', { name: 'file-receive', place: 'file' }],
  ['peergater', { name: 'peergater ecdsa-genkey', place: 'peergater' }],
  ['config', { name: 'config', place: 'main' }],
])

/** The defaults of EdgeVPN that differ from ours, by the commands that have them. */
const DEFAULTS: Partial<Record<EdgevpnPlace, Readonly<Record<string, string>>>> = {
  main: {
    interface: 'edgevpn0',
    mtu: '1200',
    'dns-forward-server': '8.8.8.8:53,1.1.1.1:53',
    'dns-cache-size': '200',
    'api-values': 'text',
  },
  api: { 'api-values': 'text', instance: 'api' },
  dns: { 'dns-forward-server': '8.8.8.8:53,1.1.1.1:53', 'dns-cache-size': '200', 'own-node': 'true' },
  proxy: { listen: ':8080' },
  service: { 'own-node': 'true' },
  file: { 'own-node': 'true' },
}
const DEFAULT_ADDRESS = '10.1.0.1/24'
const DEFAULT_HEARTBEAT_S = 120
const HEARTBEATS_PER_LEASE = 4
/** The longest lease that an option takes, in seconds. */
const MAX_LEASE_S = 86_400

/** @param words the command line behind the program's name */
export function translateEdgevpn(words: readonly string[], environment: Environment): Translated {
  const own = words.filter((word) => !/^--?edgevpn$/.test(word))
  const { given, others, positionals } = readGoWords(own)
  const [first = ''] = positionals
  const known = COMMANDS.get(first)
  // a command that EdgeVPN does not have is one of ours
  if (known === undefined) return { args: own, ignored: [] }
  const { name, place } = known
  const rows = flagsAt(place)
  const translation = new Translation(name, valuesOf(rows, given, environment))
  for (const row of rows) translation.carry(row)
  // EdgeVPN has no such flag with this command, but this program may
  const strange = [...given].filter(([flag]) => !rows.some((row) => row.flag === flag))
  const passed = strange.flatMap(([flag, texts]) => texts.map((text) => `--${flag}=${text}`))
  return translation.finish(place, [...passed, ...others, ...positionals.slice(name.split(' ').length)])
}

/** Gives the values of each flag: a flag beats its variable, and an empty text is none. */
function valuesOf(
  rows: readonly EdgevpnFlag[],
  given: ReadonlyMap<string, readonly string[]>,
  environment: Environment,
): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, readonly string[]>()
  for (const { flag, variable, takes } of rows) {
    const levels = [given.get(flag) ?? [], [environment[variable ?? ''] ?? '']]
    const full =
      levels.map((texts) => texts.filter((text) => text !== '')).find(({ length }) => length > 0) ?? []
    if (full.length > 0) values.set(flag, takes === 'switch' ? full.map(toSwitch) : full)
  }
  return values
}

class Translation {
  readonly #values: ReadonlyMap<string, readonly string[]>
  readonly #options = new Map<string, string>()
  readonly #ignored: string[] = []
  #command: string

  constructor(command: string, values: ReadonlyMap<string, readonly string[]>) {
    this.#command = command
    this.#values = values
  }

  /** Sets the option of the same name, or notes that the flag has no effect; what is carried over comes at the end. */
  carry({ flag, here }: EdgevpnFlag): void {
    const texts = this.#values.get(flag)
    if (texts === undefined || here.is === 'carried') return
    if (here.is === 'nothing') return this.#ignore(flag)
    const value = here.convert === undefined ? texts.join(',') : here.convert(texts.at(-1) ?? '')
    if (value !== undefined) this.#options.set(flag, value)
  }

  finish(place: EdgevpnPlace, rest: readonly string[]): Translated {
    this.#carryLease()
    this.#carryConnections()
    this.#carryLevels()
    this.#carryState()
    this.#carryCompanions()
    const names = this.#carryPlace(place)
    // EdgeVPN's `-g` and `-b` are ours, and a network is made without any node
    const isGenerating = this.#is('g')
    if (isGenerating) return { args: [...this.#generate(), ...rest], ignored: this.#ignored }
    for (const [flag, value] of Object.entries(DEFAULTS[place] ?? {})) {
      if (!this.#options.has(flag)) this.#options.set(flag, value)
    }
    return { args: [...this.#words(), ...names, ...rest], ignored: this.#ignored }
  }

  #carryLease(): void {
    const heartbeat = this.#number('aliveness-healthcheck-interval')
    const interval = Math.min(heartbeat ?? DEFAULT_HEARTBEAT_S, 3_600)
    if (heartbeat !== undefined) this.#options.set('aliveness-healthcheck-interval', `${interval}s`)
    const asked =
      this.#number('ownership-ttl') ??
      this.#number('aliveness-healthcheck-max-interval') ??
      this.#number('dead-interval')
    if (asked === undefined && heartbeat === undefined) return
    const lease = Math.max(asked ?? 0, HEARTBEATS_PER_LEASE * interval)
    this.#options.set('ownership-ttl', `${Math.min(lease, MAX_LEASE_S)}s`)
  }

  #carryConnections(): void {
    const asked = ['max-connections', 'connection-high-water', 'connection-low-water'].flatMap(
      (flag) => within(8, 65_536)(this.#last(flag) ?? '0') ?? [],
    )
    if (asked[0] !== undefined) this.#options.set('max-connections', asked[0])
  }

  #carryLevels(): void {
    const level = this.#last('log-level')
    const p2p = this.#last('libp2p-log-level')
    if (level === undefined && p2p === undefined) return
    const levels = [toLogLevel(level ?? 'info'), ...(p2p === undefined ? [] : [`p2p=${toLogLevel(p2p)}`])]
    this.#options.set('log-level', levels.join(','))
  }

  #carryState(): void {
    const kept = this.#is('privkey-cache') ? this.#last('privkey-cache-dir') : undefined
    const folder = kept ?? this.#last('lease-dir')
    if (folder !== undefined) this.#options.set('state-dir', folder)
    else if (this.#values.has('privkey-cache-dir')) this.#ignore('privkey-cache-dir')
    const relays = this.#values.get('autorelay-static-peer') ?? []
    const peers = [...(this.#values.get('discovery-bootstrap-peers') ?? []), ...relays]
    if (peers.length > 0) this.#options.set('discovery-bootstrap-peers', peers.join(','))
  }

  /** Drops what means something with another flag only. */
  #carryCompanions(): void {
    if (!this.#is('peerguard')) this.#drop(/^peergate/)
    if (!this.#is('api')) this.#drop(/^api-listen$/)
    if (!this.#is('g')) this.#drop(/^(key-otp-interval|b)$/)
  }

  /** Gives the arguments that EdgeVPN takes as flags, and makes the other command that some are here. */
  #carryPlace(place: EdgevpnPlace): readonly string[] {
    switch (place) {
      case 'main':
        if (this.#command === 'start') return []
        if (!this.#is('dhcp') && !this.#options.has('address')) this.#options.set('address', DEFAULT_ADDRESS)
        return []
      case 'dns': {
        const listen = this.#last('listen')
        if (listen === undefined) this.#command = 'start'
        else this.#options.set('dns', listen)
        return []
      }
      case 'proxy':
        if (!this.#is('api')) return []
        this.#command = 'api'
        this.#options.set('proxy', this.#last('listen') ?? ':8080')
        this.#options.set('listen', this.#last('api-listen') ?? '127.0.0.1:8081')
        this.#options.set('api-values', 'text')
        return []
      case 'service':
      case 'file':
        return ['name', place === 'file' ? 'path' : 'address'].flatMap((flag) => this.#last(flag) ?? [])
      case 'api':
      case 'peergater':
        return []
    }
  }

  #generate(): readonly string[] {
    const interval = this.#last('key-otp-interval')
    const words = ['-g', ...(this.#is('b') ? ['-b'] : [])]
    return interval === undefined ? words : [...words, `--key-otp-interval=${interval}`]
  }

  /** The command and its options; an option that the command does not take has no effect. */
  #words(): readonly string[] {
    const taken = new Set(optionsOf(this.#command).map(flagOf))
    const words = this.#command === '' ? [] : this.#command.split(' ')
    for (const [flag, value] of this.#options) {
      if (taken.has(flag)) words.push(`--${flag}=${value}`)
      else if (this.#values.has(flag)) this.#ignore(flag)
    }
    return words
  }

  #drop(pattern: RegExp): void {
    for (const flag of this.#options.keys()) {
      if (!pattern.test(flag)) continue
      this.#options.delete(flag)
      this.#ignore(flag)
    }
  }

  #ignore(flag: string): void {
    this.#ignored.push(`--${flag}`)
  }

  #last(flag: string): string | undefined {
    return this.#values.get(flag)?.at(-1)
  }

  #is(flag: string): boolean {
    return this.#last(flag) === 'true'
  }

  /** Undefined for 0, which is no value, and for what is no number. */
  #number(flag: string): number | undefined {
    const value = Number(this.#last(flag))
    return Number.isInteger(value) && value > 0 ? value : undefined
  }
}
