import { describe, expect, test } from 'vitest'
import { edgevpnFlags, explainEdgevpnFlag } from './flags.ts'
import { translateEdgevpn } from './translate.ts'

const ofMain = [
  '--interface=edgevpn0',
  '--mtu=1200',
  '--dns-forward-server=8.8.8.8:53,1.1.1.1:53',
  '--dns-cache-size=200',
  '--api-values=text',
]
const translate = (line: string, environment: Record<string, string> = {}) =>
  translateEdgevpn(
    line.split(' ').filter((word) => word !== ''),
    environment,
  )
const args = (line: string, environment?: Record<string, string>) =>
  translate(line, environment).args.join(' ')

test('the main command has the defaults of EdgeVPN', () => {
  expect(translate('').args).toEqual(['--address=10.1.0.1/24', ...ofMain])
  expect(translate('--edgevpn').args).toEqual(['--address=10.1.0.1/24', ...ofMain])
})

describe('the lines of Kairos', () => {
  test('a VPN with an API on a socket', () => {
    const { args: words } = translate('', {
      EDGEVPNTOKEN: 'TOKEN',
      API: 'true',
      APILISTEN: 'unix:///run/edgevpn.sock',
      DHCP: 'true',
      DHCPLEASEDIR: '/usr/local/.kairos/lease',
      EDGEVPNDHT: 'false',
      EDGEVPNLOWPROFILE: 'true',
    })
    expect(words.toSorted()).toEqual(
      [
        ...ofMain,
        '--api-listen=unix:///run/edgevpn.sock',
        '--api=true',
        '--dht=false',
        '--dhcp=true',
        '--state-dir=/usr/local/.kairos/lease',
        '--token=TOKEN',
      ].toSorted(),
    )
  })

  test('an API alone on a socket', () => {
    const environment = { EDGEVPNTOKEN: 'TOKEN', APILISTEN: 'unix:///run/edgevpn.sock' }
    expect(translate('api --enable-healthchecks', environment)).toEqual({
      args: [
        'api',
        '--token=TOKEN',
        '--listen=unix:///run/edgevpn.sock',
        '--api-values=text',
        '--instance=api',
      ],
      ignored: ['--enable-healthchecks'],
    })
  })
})

test.each([
  ['sa --name web --address 127.0.0.1:80', 'service-add --own-node=true web 127.0.0.1:80'],
  ['service-add web :80', 'service-add --own-node=true web :80'],
  ['sc -name web -address :9000', 'service-connect --own-node=true web :9000'],
  ['fs --name n --path ./p', 'file-send --own-node=true n ./p'],
  ['fr --name=n --path=./p', 'file-receive --own-node=true n ./p'],
  ['dns', 'start --dns-forward-server=8.8.8.8:53,1.1.1.1:53 --dns-cache-size=200'],
  ['proxy', 'proxy --listen=:8080'],
  ['proxy --api', 'api --proxy=:8080 --listen=127.0.0.1:8081 --api-values=text'],
  ['peergater ecdsa-genkey --privkey', 'peergater ecdsa-genkey --privkey=true'],
  ['-g', '-g'],
  ['-g -b -key-otp-interval 9000', '-g -b --key-otp-interval=9000'],
  ['--version', '--address=10.1.0.1/24'],
  ['status --json', 'status --json'],
])('%s', (line, expected) => {
  expect(args(line)).toContain(expected)
})

test('words are read as Go reads them', () => {
  expect(args('-token X --mdns=F -dht api')).toMatch(/^api --mdns=false --dht=true --token=X/)
  expect(args('--blacklist a --blacklist b')).toContain('--blacklist=a,b')
  expect(args('', { EDGEVPNMDNS: '1', EDGEVPNTOKEN: '' })).not.toContain('--token')
  expect(args('--mdns=false', { EDGEVPNMDNS: 'true' })).toContain('--mdns=false')
  expect(args('--name here --token X')).toContain('--name=here')
})

test.each([
  ['--mtu 400', '--mtu=576'],
  ['--max-connections 0', undefined],
  ['--max-connections 0 --connection-high-water 100 --connection-low-water 50', '--max-connections=100'],
  ['--connection-low-water 4', '--max-connections=8'],
  ['--discovery-interval 0', undefined],
  ['--discovery-interval 5', '--discovery-interval=10'],
  ['--ownership-ttl 0', undefined],
  ['--aliveness-healthcheck-interval 300', '--ownership-ttl=1200s'],
  ['--aliveness-healthcheck-max-interval 900', '--ownership-ttl=900s'],
  ['--ownership-ttl 60 --aliveness-healthcheck-max-interval 900', '--ownership-ttl=480s'],
  ['proxy --dead-interval 600', '--ownership-ttl=600s'],
  ['--log-level fatal', '--log-level=error'],
  ['--log-level warn --libp2p-log-level debug', '--log-level=warn,p2p=debug'],
  ['--ownership ENFORCE', '--ownership=enforce'],
  ['--ownership on', '--ownership=enforce'],
  ['--ownership log-only', '--ownership=observe'],
  ['--privkey-cache --privkey-cache-dir /k --lease-dir /l', '--state-dir=/k'],
  ['--privkey-cache-dir /k --lease-dir /l', '--state-dir=/l'],
  ['--autorelay-static-peer /b --discovery-bootstrap-peers /a', '--discovery-bootstrap-peers=/a,/b'],
  ['--router= --ledger-state=', undefined],
  ['--api-listen :1', undefined],
  ['--peergate --peergate-auth X --peergate-interval 5', undefined],
  ['--peerguard --peergate', '--peergate=true'],
  ['--key-otp-interval 5', undefined],
])('the value of %s', (line, expected) => {
  const plain = translate(line.startsWith('proxy') ? 'proxy' : '').args
  const more = translate(line).args.filter((word) => !plain.includes(word))
  const wanted = expected === undefined ? [] : [expected]
  expect(more.filter((word) => wanted.length === 0 || wanted.includes(word))).toEqual(wanted)
})

/** Each row alone, by its flag and by its variable: it is an option, an argument, or said to have no effect. */
test.each(edgevpnFlags)(
  '--$flag ($variable) counts or is told',
  ({ flag, variable, places, takes, here }) => {
    const command = {
      main: '',
      api: 'api',
      dns: 'dns',
      proxy: 'proxy',
      service: 'sa',
      file: 'fs',
      peergater: 'peergater ecdsa-genkey',
    }[places === 'common' ? 'main' : (places[0] ?? 'main')]
    const companions = flag.startsWith('peergate-') || flag === 'peergate' ? '--peerguard ' : ''
    const needs = flag === 'privkey-cache-dir' ? '--privkey-cache ' : ''
    const value = takes === 'switch' ? 'true' : '977'
    const line = `${command} ${companions}${needs}--${flag}=${value}`
    const plain = translate(`${command} ${companions}${needs}`).args
    const effects = ({ args: words, ignored }: ReturnType<typeof translate>) => [
      ...words.filter((word) => !plain.includes(word)),
      ...ignored,
    ]
    const byFlag = effects(translate(line))
    const least = ['api-listen', 'key-otp-interval', 'b', 'privkey-cache'].includes(flag) ? 0 : 1
    expect(byFlag.length).toBeGreaterThanOrEqual(least)
    expect(here.is !== 'nothing' || byFlag[0] === `--${flag}`).toBe(true)
    if (variable === undefined) return
    const byVariable = effects(translate(`${command} ${companions}${needs}`, { [variable]: value }))
    // one variable may be that of two flags of one command
    expect(byVariable).toEqual(expect.arrayContaining(byFlag))
  },
)

test('without --edgevpn a flag of EdgeVPN is explained, and one of ours is not', () => {
  expect(explainEdgevpnFlag('low-profile')).toMatch(/not needed: .*--edgevpn/)
  expect(explainEdgevpnFlag('lease-dir')).toMatch(/--state-dir.*--edgevpn/)
  expect(explainEdgevpnFlag('mdns')).toBeUndefined()
  expect(explainEdgevpnFlag('nonsense')).toBeUndefined()
})
