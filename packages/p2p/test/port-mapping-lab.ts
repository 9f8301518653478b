/** A member behind a router that maps ports when asked by UPnP, and three in the open whom it may ask to dial back. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bridge, createLab, type Lab } from '@mesh/testkit'

export interface PortMappingLab {
  readonly lab: Lab
  /** The router's rules that send what comes in from outside on to a host inside. */
  mappings(): readonly string[]
  /** Whether connections to mapped ports are refused on the way, as where a provider filters. */
  refuseMapped(refused: boolean): void
  /** Gives the router another address outside, as a provider does at night. */
  moveRouter(address: string): void
  /** Has another machine inside map a UDP port of the router, of version 1. @throws Error while the router is not there */
  takePort(port: number): void
  /** Connections refused so. */
  refused(): number
  close(): Promise<void>
}

/**
 * Hosts `x`, `y` and `z` in networks of their own in the open, and `inside` behind `router` (5.5.5.2).
 * @param version that of UPnP's InternetGatewayDevice which the router is
 */
export async function createPortMappingLab(version: 1 | 2 = 2): Promise<PortMappingLab> {
  const lab = createLab(['wan', 'x', 'y', 'z', 'router', 'inside'])
  const directory = mkdtempSync(join(tmpdir(), 'mesh-miniupnpd-'))
  const running: { daemon?: ChildProcess } = {}
  const close = async () => {
    if (running.daemon !== undefined) await end(running.daemon)
    lab.close()
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    bridge(lab, 'wan', {
      x: ['5.5.5.1/24'],
      y: ['6.6.6.1/24'],
      z: ['7.7.7.1/24'],
      router: ['5.5.5.2/24'],
    })
    for (const host of ['x', 'y', 'z', 'router'])
      lab.run(host, ['ip', 'route', 'add', 'default', 'dev', 'eth0'])
    lab.wire(
      { host: 'inside', device: 'eth0', addresses: ['192.168.1.2/24'] },
      { host: 'router', device: 'lan', addresses: ['192.168.1.1/24'] },
    )
    lab.run('inside', ['ip', 'route', 'add', 'default', 'via', '192.168.1.1'])
    lab.run('router', ['sysctl', '-qw', 'net.ipv4.ip_forward=1'])
    lab.run('router', ['nft', RULES])
    const config = join(directory, 'miniupnpd.conf')
    writeFileSync(config, `${SETTINGS}force_igd_desc_v1=${version === 1 ? 'yes' : 'no'}\n`)
    if (version === 1) lab.run('router', ['nft', `add rule inet filter to ${NO_SEARCH_FOR_2}`])
    const [command, ...args] = lab.inside('router', [
      'miniupnpd',
      '-d',
      '-f',
      config,
      '-P',
      join(directory, 'pid'),
    ])
    running.daemon = spawn(command, args, { stdio: 'ignore' })
    return {
      lab,
      mappings: () =>
        lab
          .run('router', ['nft', 'list', 'chain', 'inet', 'filter', 'prerouting_miniupnpd'])
          .split('\n')
          .filter((line) => line.includes('dnat')),
      refuseMapped(refused) {
        lab.run('router', ['nft', 'flush chain inet filter provider'])
        if (refused) lab.run('router', ['nft', `add rule inet filter provider ${REFUSE}`])
      },
      moveRouter(address) {
        // the first one goes last: without any the routes would go too
        lab.run('router', ['ip', 'addr', 'add', `${address}/24`, 'dev', 'eth0'])
        lab.run('router', ['ip', 'addr', 'del', '5.5.5.2/24', 'dev', 'eth0'])
      },
      takePort(port) {
        const address = ['192.168.1.3/24', 'dev', 'eth0']
        lab.run('inside', ['ip', 'addr', 'replace', ...address])
        lab.run('inside', [process.execPath, '-e', TAKE, String(port)])
        lab.run('inside', ['ip', 'addr', 'del', ...address])
      },
      refused: () =>
        Number(
          /packets (\d+)/.exec(
            lab.run('router', ['nft', 'list', 'chain', 'inet', 'filter', 'provider']),
          )?.[1] ?? 0,
        ),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

async function end(daemon: ChildProcess): Promise<void> {
  if (daemon.exitCode !== null || daemon.signalCode !== null) return
  const ended = once(daemon, 'exit')
  daemon.kill('SIGTERM')
  const late = setTimeout(() => daemon.kill('SIGKILL'), 3_000)
  await ended
  clearTimeout(late)
}

/** What comes in unasked is dropped, unless miniupnpd has mapped it. */
const RULES = `table inet filter {
  chain forward {
    type filter hook forward priority 0;
    ct state established,related accept
    jump provider
    jump miniupnpd
    iifname "eth0" drop
  }
  chain to { type filter hook input priority 0; iifname "eth0" ct state new drop; }
  chain prerouting { type nat hook prerouting priority -100; jump prerouting_miniupnpd; }
  chain postrouting {
    type nat hook postrouting priority 100
    jump postrouting_miniupnpd
    oifname "eth0" masquerade
  }
  chain provider { }
  chain miniupnpd { }
  chain prerouting_miniupnpd { }
  chain postrouting_miniupnpd { }
}`

/** The start of a search for a router of version 2, as `@mesh/port-mapping` sends it. */
const SEARCH_FOR_2 = [
  'M-SEARCH * HTTP/1.1',
  'HOST: 239.255.255.250:1900',
  'MAN: "ssdp:discover"',
  'MX: 1',
  'ST: urn:schemas-upnp-org:device:InternetGatewayDevice:2',
  '',
].join('\r\n')

/** miniupnpd describes itself as a router of version 1 where it is told to, but answers searches for one of version 2 all the same. */
const NO_SEARCH_FOR_2 = `udp dport 1900 @th,${8 * (8 + SEARCH_FOR_2.indexOf(':2\r\n') + 1)},8 0x32 drop`

const REFUSE = 'iifname "eth0" tcp flags syn counter reject with tcp reset'

/** Asks the router by itself, so that another program than the one that is tested says what is taken. */
const TAKE = `
const wan = 'urn:schemas-upnp-org:service:WANIPConnection:1'
const port = process.argv[1]
const body = '<?xml version="1.0"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><u:AddPortMapping xmlns:u="' +
  wan + '"><NewRemoteHost></NewRemoteHost><NewExternalPort>' + port + '</NewExternalPort><NewProtocol>UDP</NewProtocol>' +
  '<NewInternalPort>' + port + '</NewInternalPort><NewInternalClient>192.168.1.3</NewInternalClient><NewEnabled>1</NewEnabled>' +
  '<NewPortMappingDescription>other</NewPortMappingDescription><NewLeaseDuration>3600</NewLeaseDuration></u:AddPortMapping></s:Body></s:Envelope>'
require('node:http').request('http://192.168.1.1:5000/ctl/IPConn', {
  method: 'POST',
  localAddress: '192.168.1.3',
  headers: { soapaction: '"' + wan + '#AddPortMapping"', 'content-length': body.length },
}, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1)).end(body)`

const SETTINGS = `ext_ifname=eth0
listening_ip=lan
port=5000
enable_upnp=yes
enable_natpmp=no
secure_mode=yes
system_uptime=yes
uuid=00000000-0000-4000-8000-000000000001
allow 1024-65535 192.168.1.0/24 1024-65535
deny 0-65535 0.0.0.0/0 0-65535
`
