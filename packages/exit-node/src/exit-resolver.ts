/**
 * Has systemd-resolved ask its DNS servers through the exit. It binds each question to the interface of the server, so rules do not
 * lead it. Therefore the VPN's interface gets those servers for all names. With `--dns-configure` it has this node's own
 * server, which does the same for forwarded questions.
 */
import { existsSync, readFileSync } from 'node:fs'
import type { Logger } from '@mesh/core'
import type { ExitSettings } from './exit-settings.ts'
import { resolvedServers } from './system/machine-resolvers.ts'
import { runSystem, trySystem } from './system/system-command.ts'

export interface ExitResolverInit {
  readonly settings: ExitResolverSettings
  readonly log: Logger
}

export type ExitResolverSettings = Pick<
  ExitSettings,
  'interface' | 'dnsConfigure' | 'dnsForwarder' | 'exitNode'
>

/**
 * True where `--dns-configure` gives the interface this node's own server for all names, and it asks others through the
 * exit that the node was started with.
 */
export function asksForAll({
  dnsConfigure,
  dnsForwarder,
  exitNode,
}: Omit<ExitResolverSettings, 'interface'>): boolean {
  return dnsConfigure && dnsForwarder && exitNode !== undefined
}

/** The file that a running systemd-resolved keeps, whoever uses it. */
const STUB = '/run/systemd/resolve/stub-resolv.conf'

export class ExitResolver {
  readonly #init: ExitResolverInit
  /** The number of the interface that was given servers: another one of that name has none. */
  #told: string | undefined
  #isPast = false

  constructor(init: ExitResolverInit) {
    this.#init = init
  }

  /** True where systemd-resolved runs and asks servers past the exit, which gets no answers. */
  get isPast(): boolean {
    return this.#isPast
  }

  /** Gives the interface its servers, once it is there. To be called again when there may be another interface. */
  lead(): void {
    const { settings, log } = this.#init
    const { interface: name, dnsConfigure } = settings
    if (asksForAll(settings)) return
    const index = indexOf(name)
    if (this.#told !== undefined && this.#told === index) return
    this.#told = undefined
    this.#isPast = existsSync(STUB) && trySystem('resolvectl', ['status']) !== undefined
    if (!this.#isPast || dnsConfigure || index === undefined) return
    const servers = resolvedServers()
    if (servers.length === 0) return
    try {
      runSystem('resolvectl', ['dns', name, ...servers])
      runSystem('resolvectl', ['domain', name, '~.'])
      runSystem('resolvectl', ['default-route', name, 'yes'])
      this.#told = index
      this.#isPast = false
      log.info('systemd-resolved asks through the exit', { interface: name, servers })
    } catch (error) {
      log.warn('systemd-resolved was not told of the exit', { interface: name, error })
    }
  }

  revert(): void {
    if (this.#told === undefined) return
    this.#told = undefined
    trySystem('resolvectl', ['revert', this.#init.settings.interface])
  }
}

function indexOf(name: string): string | undefined {
  try {
    return readFileSync(`/sys/class/net/${name}/ifindex`, 'utf8').trim()
  } catch {
    return undefined
  }
}
