import { MeshError } from '@mesh/core'
import { expect, test } from 'vitest'
import { embeddedSettings } from './embed-settings.ts'
import { generateToken } from './generate-token.ts'
import { joinMesh } from './join-mesh.ts'

const token = generateToken()

test('options become settings by the rules of flags', () => {
  const { settings, sources } = embeddedSettings(
    {
      token,
      name: 'worker-1',
      stateDir: 'state',
      private: true,
      bootstrapPeers: [],
      settings: { mdns: false, 'max-connections': 50, 'listen-maddrs': ['/ip4/127.0.0.1/tcp/0'] },
    },
    '/srv',
  )
  expect(settings).toMatchObject({
    token,
    name: 'worker-1',
    instance: 'worker-1',
    stateDir: '/srv/state',
    private: true,
    ephemeral: false,
    mdns: false,
    maxConnections: 50,
    listenMaddrs: ['/ip4/127.0.0.1/tcp/0'],
  })
  expect(sources.mdns).toMatchObject({ level: 'flag', place: 'settings.mdns' })
  expect(sources.discoveryBootstrapPeers.level).toBe('default')
})

test('nodes that keep nothing do not share a folder', () => {
  const instance = () => embeddedSettings({ token, ephemeral: true, name: 'same' }, '/').settings.instance
  expect(instance()).not.toBe(instance())
})

test.each([
  [{ token, name: '-no-' }, 'node.bad_input', 'name: expected 1 to 63 letters'],
  [{ token, tokenFile: 'x' }, 'node.network_twice', 'token and tokenFile both name a network'],
  [{ token, settings: { nonsense: true } }, 'node.bad_input', 'settings.nonsense: expected a flag'],
  [{ token, settings: { listen: ':8080' } }, 'node.bad_input', 'settings.listen: expected a flag'],
  [{ token, settings: { mdns: 'perhaps' } }, 'node.bad_input', 'settings.mdns: expected true or false'],
  [{}, 'node.no_network', 'joinMesh needs to know which network'],
  [{ token: 'nonsense' }, 'network.bad_token', ''],
  [{ tokenFile: '/nowhere/token' }, 'node.unreadable', 'cannot read /nowhere/token'],
])('refuses %o with a code and a hint', async (init, code, message) => {
  const error = await joinMesh(init).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(MeshError)
  const some = expect.any(String) as string
  expect(error).toMatchObject({ code, message: expect.stringContaining(message) as string, hint: some })
})
