import { expect, test } from 'vitest'
import { joinCommands } from './join-commands.ts'

const LOOPBACK = '/ip4/127.0.0.1/tcp/4001/p2p/12D3KooWa'
const RELAYED = '/ip4/198.51.100.1/tcp/4001/p2p/12D3KooWr/p2p-circuit/p2p/12D3KooWa'
const LAN = '/ip4/192.168.1.5/tcp/4001/p2p/12D3KooWa'

test('dials the first address that another machine reaches, and copies the token from there', () => {
  const commands = joinCommands({
    tokenFile: '/etc/mesh/home net.token',
    addresses: [LOOPBACK, RELAYED, LAN],
    isPrivate: true,
  })
  expect(commands.copyToken).toBe("scp '192.168.1.5:/etc/mesh/home net.token' mesh.token")
  expect(commands.linux).toBe(
    `sudo mesh --api --token-file mesh.token --private --discovery-bootstrap-peers ${LAN}`,
  )
})

test('says what is not known in capitals, and leaves out what is not needed', () => {
  const commands = joinCommands({ tokenFile: undefined, addresses: [LOOPBACK], isPrivate: false })
  expect(commands).toMatchObject({
    copyToken: 'scp THIS-MACHINE:mesh.token mesh.token',
    other: 'mesh api --token-file mesh.token',
  })
})

test('a container gets the device and the capability, and a network with administrators the invite', () => {
  const { container } = joinCommands({ tokenFile: undefined, addresses: [], isPrivate: false, invite: 'abc' })
  expect(container).toContain('--cap-add NET_ADMIN --device /dev/net/tun')
  expect(container).toMatch(/--env MESHTOKEN="\$\(cat mesh\.token\)" localhost\/mesh --api --invite abc$/)
})
