import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { endianness, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostRoutes, parseIpv4Routes, parseIpv6Routes } from './host-routes.ts'

const HEAD = 'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT   \n'
const ipv4 = (name: string, to: string, gateway: string, flags: string, mask: string) =>
  `${name}\t${to}\t${gateway}\t${flags}\t0\t0\t100\t${mask}\t0\t0\t0   \n`
const ZEROS = '0'.repeat(32)
const ipv6 = (to: string, length: string, flags: string, name: string) =>
  `${to.padEnd(32, '0')} ${length} ${ZEROS} 00 ${ZEROS} 00000400 00000001 00000000 ${flags} ${name.padStart(8)}\n`

test.skipIf(endianness() !== 'LE')('reads what the kernel lists of IPv4, and no default route', () => {
  const text =
    HEAD +
    ipv4('eth0', '00000000', '0101A8C0', '0003', '00000000') +
    ipv4('eth0', '0001A8C0', '00000000', '0001', '00FFFFFF') +
    ipv4('eth0', '0000090A', '0101A8C0', '0003', '0000FFFF') +
    ipv4('*', '0000100A', '00000000', '0201', '0000F0FF') +
    ipv4('down0', '0000110A', '00000000', '0000', '0000FFFF') +
    'rubbish\n\n'
  expect(parseIpv4Routes(text)).toEqual([
    { interface: 'eth0', range: '192.168.1.0/24' },
    { interface: 'eth0', range: '10.9.0.0/16' },
    { interface: '*', range: '10.16.0.0/12' },
  ])
  expect(parseIpv4Routes(text, 'eth0')).toEqual([{ interface: '*', range: '10.16.0.0/12' }])
})

test('reads what the kernel lists of IPv6, without default routes and addresses of the machine', () => {
  const text =
    ipv6('', '00', '00000003', 'eth0') +
    ipv6('', '00', '00200200', 'lo') +
    ipv6('fd99', '20', '00000003', 'eth0') +
    ipv6('fd990000000000000000000000000001', '80', '80200001', 'eth0') +
    ipv6('fd98', '30', '00000201', 'lo') +
    'rubbish\n'
  expect(parseIpv6Routes(text)).toEqual([
    { interface: 'eth0', range: 'fd99::/32' },
    { interface: 'lo', range: 'fd98::/48' },
  ])
  expect(parseIpv6Routes(text, 'eth0')).toEqual([{ interface: 'lo', range: 'fd98::/48' }])
})

test('reads lists without end as far as the bound, whole lines of them, and none where there are none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-routes-'))
  const line = ipv6('fd99', '20', '00000003', 'eth0')
  writeFileSync(join(folder, 'ipv6_route'), line.repeat(10_000))
  expect(hostRoutes('mesh0', folder)).toHaveLength(Math.floor((1024 * 1024) / line.length))
  rmSync(folder, { recursive: true })
  expect(hostRoutes('mesh0', folder)).toEqual([])
})
