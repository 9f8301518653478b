/** A stock WireGuard app in a network namespace: wireguard-go, set up by nothing but a configuration, as wg-quick does. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { eventually, type Lab } from '@mesh/testkit'

interface StockWireguardInit {
  readonly lab: Lab
  readonly host: string
  /** The program wireguard-go. */
  readonly file: string
  /** The interface's name. */
  readonly device: string
  readonly configuration: string
  /** What is led into it; default: all that the configuration allows. */
  readonly routes?: readonly string[]
}

export interface StockWireguard {
  /** Begins anew with the configuration, as an app does that is switched on. */
  configure(): void
  stop(): Promise<void>
}

export async function startStockWireguard(init: StockWireguardInit): Promise<StockWireguard> {
  const { lab, host, file, device, configuration: text } = init
  const [program, ...words] = lab.inside(host, [file, '-f', device])
  const environment = { ...process.env, WG_I_PREFER_BUGGY_USERSPACE_TO_POLISHED_KMOD: '1' }
  const app: ChildProcess = spawn(program, words, { stdio: 'ignore', env: environment })
  // the kernel makes no interface while it takes other tests' namespaces away
  await eventually(() => lab.run(host, ['wg', 'show', device]), { withinMs: 20_000 })
  const configure = () => {
    const stripped = text.replaceAll(/^(Address|DNS|MTU) = .*\n/gm, '')
    lab.run(host, ['sh', '-c', `printf %s '${stripped}' | wg setconf ${device} /dev/stdin`])
  }
  configure()
  for (const address of valueOf(text, 'Address').split(', '))
    lab.run(host, ['ip', 'addr', 'add', address, 'dev', device])
  lab.run(host, ['ip', 'link', 'set', device, 'mtu', valueOf(text, 'MTU'), 'up'])
  for (const range of init.routes ?? valueOf(text, 'AllowedIPs').split(', '))
    lab.run(host, ['ip', 'route', 'replace', range, 'dev', device])
  return {
    configure,
    async stop() {
      if (app.exitCode !== null || app.signalCode !== null) return
      const gone = once(app, 'exit')
      app.kill()
      await gone
    },
  }
}

/** The value of a line of a configuration. */
export function valueOf(text: string, field: string): string {
  return new RegExp(`^${field} = (.*)$`, 'm').exec(text)?.[1] ?? ''
}
