import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

/** Takes all descriptors of its process, and then asks for the machine's addresses: as our modules do, and as libp2p does. */
const PROGRAM = `
  import os, { networkInterfaces } from 'node:os'
  import { openSync } from 'node:fs'
  import { silentLogger, systemClock, systemRandom } from '@mesh/core'
  import { generateNetworkConfig } from '@mesh/network'
  import { createP2pNode } from '@mesh/p2p/node'
  const off = { mdns: false, dht: false, ws: false, webrtc: false, webrtcDirect: false, quic: false }
  const node = process.argv[1] === 'plain' ? undefined : await createP2pNode(
    {
      network: generateNetworkConfig({}, systemRandom), identity: systemRandom.bytes(32), private: true, switches: off,
      listen: ['/ip4/0.0.0.0/tcp/0'],
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  const ways = [networkInterfaces, () => os.networkInterfaces(), ...(node ? [() => node.addresses()] : [])]
  const before = ways.map((ask) => JSON.stringify(ask()))
  let code
  while (code === undefined) try { openSync('/dev/null') } catch (error) { code = error.code }
  const after = ways.map((ask, at) => { try { return JSON.stringify(ask()) === before[at] } catch (error) { return error.code } })
  process.stdout.write(JSON.stringify([code, ...after]), () => process.exit())
`

function withoutDescriptors(mode: 'host' | 'plain'): unknown {
  const flags = ['--conditions=mesh-source', '--no-warnings', '--input-type=module']
  const words = [process.execPath, ...flags, '--eval', PROGRAM, mode]
  const options = { encoding: 'utf8', cwd: import.meta.dirname } as const
  const { stdout, stderr } = spawnSync('sh', ['-c', 'ulimit -n 128 && exec "$@"', 'sh', ...words], options)
  return stdout === '' ? stderr : JSON.parse(stdout)
}

const isLinux = process.platform === 'linux'

test.skipIf(!isLinux)(
  'a host without a free descriptor knows the addresses of its machine as they were',
  () => {
    expect(withoutDescriptors('host')).toEqual(['EMFILE', true, true, true])
  },
)

// once this fails, Node or libuv asks without a descriptor, and the wrapping can go
test.skipIf(!isLinux)('Node alone throws', () => {
  expect(withoutDescriptors('plain')).toEqual(['EMFILE', 'ERR_SYSTEM_ERROR', 'ERR_SYSTEM_ERROR'])
})
