/** Services between real nodes: over TCP, UDP and unix sockets, many at once, and when something fails. */
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMesh, makeToken, type Mesh, type NodeProcess } from './harness.ts'
import {
  distinct,
  exchange,
  exchangeDatagram,
  portOf,
  startBanner,
  startEcho,
  startHasher,
  startHttp,
  startHung,
  startUdpEcho,
  type Target,
} from './service-lab.ts'

const token = makeToken()
let mesh: Mesh
const targets: Target[] = []
async function target(starting: Promise<Target>): Promise<Target> {
  const started = await starting
  targets.push(started)
  return started
}

beforeAll(() => {
  mesh = createMesh()
})
afterAll(async () => {
  await mesh.cleanUp()
  await Promise.all(targets.map((each) => each.close()))
})

const bootstrap = (node: NodeProcess) => `--discovery-bootstrap-peers=${node.addresses[0]}`

describe('a node that offers several services, and one that connects to them', () => {
  let provider: NodeProcess
  let client: NodeProcess
  let unixPath: string
  beforeAll(async () => {
    const [echo, hasher, http, banner, hung, udp] = await Promise.all([
      target(startEcho()),
      target(startHasher()),
      target(startHttp()),
      target(startBanner()),
      target(startHung()),
      target(startUdpEcho()),
    ])
    const socketTarget = join(mesh.folder, 'target.sock')
    await target(startEcho({ path: socketTarget }))
    unixPath = join(mesh.folder, 'listen.sock')
    provider = await mesh.start({
      command: 'start',
      token,
      args: [
        `--service-add=echo=127.0.0.1:${echo.port}`,
        `--service-add=hash=:${hasher.port}`,
        `--service-add=web=localhost:${http.port},banner=:${banner.port},hung=:${hung.port}`,
        `--service-add=udp=udp:127.0.0.1:${udp.port}`,
        `--service-add=socket=unix:${socketTarget}`,
      ],
      until: 'all transports listening',
    })
    client = await mesh.start({
      command: 'api',
      token,
      args: [
        bootstrap(provider),
        '--service-connect=echo=127.0.0.1:0,hash=:0,web=:0,banner=:0,hung=:0,udp=udp:127.0.0.1:0',
        `--service-connect=socket=unix:${unixPath}`,
      ],
    })
  })

  test('the first connection after the start is served', async () => {
    const port = await portOf(client, 'web')
    const answer = await fetch(`http://127.0.0.1:${port}/first`)
    expect(await answer.json()).toMatchObject({ method: 'GET', path: '/first' })
  })

  test('half-close is kept: the answer comes after the client ended its direction', async () => {
    const sent = randomBytes(3 * 2 ** 20)
    const answer = await exchange(await portOf(client, 'hash'), sent)
    expect(answer.toString()).toBe(createHash('sha256').update(sent).digest('hex'))
  })

  test('200 TCP connections and 200 UDP clients at once get their own bytes back', async () => {
    const [tcp, udp] = [await portOf(client, 'echo'), await portOf(client, 'udp')]
    const sent = Array.from({ length: 200 }, distinct)
    const back = await Promise.all(sent.map((bytes) => exchange(tcp, bytes)))
    expect(back.every((bytes, at) => bytes.equals(sent[at] as Buffer))).toBe(true)
    const datagrams = sent.map((bytes) => bytes.subarray(0, 1200))
    const echoed = await Promise.all(datagrams.map((bytes) => exchangeDatagram(udp, bytes)))
    expect(echoed.every((bytes, at) => bytes.equals(datagrams[at] as Buffer))).toBe(true)
  })

  test('the way that connections go is told, after many clients of UDP too: direct ones soon over TLS connections of their own', async () => {
    const port = await portOf(client, 'echo')
    await eventually(
      async () => {
        await exchange(port, Buffer.from('x'))
        const connection = await client.client.getNodeConnection({ name: 'echo' })
        expect(connection).toMatchObject({ State: 'connected', Path: 'direct', Transport: 'tcp tls' })
      },
      { withinMs: 30_000 },
    )
    const metrics = await (await fetch(`${client.url}/metrics`)).text()
    expect(metrics).toContain('mesh_service_path{name="echo",path="direct",transport="tcp tls"} 1')
    const { stdout } = await mesh.run(['services', `--state-dir=${client.stateDir}`])
    expect(stdout).toMatch(/echo\s.*connected, direct tcp tls/)
  })

  test('the longest datagram goes through, and an empty one', async () => {
    const port = await portOf(client, 'udp')
    const longest = randomBytes(60_000)
    expect((await exchangeDatagram(port, longest)).equals(longest)).toBe(true)
    expect(await exchangeDatagram(port, Buffer.alloc(0))).toHaveLength(0)
  })

  test('unix sockets serve on both ends', async () => {
    const sent = randomBytes(100_000)
    expect((await exchange({ path: unixPath }, sent)).equals(sent)).toBe(true)
  })

  test('a reset of the target reaches the client as a reset', async () => {
    const socket = connect({ host: '127.0.0.1', port: await portOf(client, 'banner') })
    const [first] = (await once(socket, 'data')) as [Buffer]
    expect(first.toString()).toBe('SSH-2.0-test\r\n')
    socket.write('reset')
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).toBe('ECONNRESET')
  })

  test('a client that does not read stops the target, and gets all later', async () => {
    const port = await portOf(client, 'echo')
    const socket = connect({ host: '127.0.0.1', port })
    await once(socket, 'connect')
    socket.pause()
    // more than the kernel's buffers of four sockets on the way can take together
    const sent = randomBytes(96 * 2 ** 20)
    let written = 0
    const pour = () => {
      while (written < sent.length) {
        const block = sent.subarray(written, written + 65_536)
        written += block.length
        if (!socket.write(block)) return socket.once('drain', pour)
      }
      return socket.end()
    }
    pour()
    let before = -1
    // until nothing moves any more: every buffer on the way is full
    await eventually(
      () => {
        const stalled = written === before
        before = written
        expect(stalled).toBe(true)
      },
      { withinMs: 20_000, everyMs: 1_000 },
    )
    expect(written).toBeLessThan(sent.length)
    const got: Buffer[] = []
    socket.on('data', (bytes) => got.push(bytes))
    socket.resume()
    await once(socket, 'end')
    expect(Buffer.concat(got).equals(sent)).toBe(true)
  })

  test('metrics count what passed', async () => {
    const text = await (await fetch(`${client.url}/metrics`)).text()
    expect(text).toMatch(/mesh_service_up\{name="echo",side="connected"\} 1/)
    expect(text).toMatch(/mesh_service_connections_total\{name="echo",side="connected"\} 2\d\d/)
  })

  test('300 connections that say nothing, or never read, leave room for others and nothing behind', async () => {
    const port = await portOf(client, 'echo')
    const hung = await portOf(client, 'hung')
    const silent = Array.from({ length: 150 }, () => connect({ host: '127.0.0.1', port }))
    // the target takes the connection and reads nothing of it: what is sent fills all buffers on the way
    const stuck = Array.from({ length: 50 }, () => connect({ host: '127.0.0.1', port: hung }))
    for (const socket of stuck) socket.write(Buffer.alloc(256 * 1024))
    // gone in the middle of its request
    const gone = Array.from({ length: 100 }, () => connect({ host: '127.0.0.1', port }))
    for (const socket of [...silent, ...stuck, ...gone]) socket.on('error', () => {})
    for (const socket of gone) socket.once('connect', () => socket.resetAndDestroy())
    const sent = randomBytes(100_000)
    await eventually(async () => expect((await exchange(port, sent)).equals(sent)).toBe(true), {
      withinMs: 30_000,
    })
    for (const socket of [...silent, ...stuck]) socket.resetAndDestroy()
    await eventually(
      async () => {
        const open = await Promise.all(
          [client, provider].map(async ({ client: api }) => {
            const [services, connections] = [
              await api.listNodeServices({}),
              await api.listNodeConnections({}),
            ]
            // sessions of UDP end when nothing went over them for two minutes
            return [...Object.values(services), ...Object.values(connections)]
              .filter(({ Name }) => Name !== 'udp')
              .map(({ OpenConnections }) => OpenConnections)
          }),
        )
        expect(open.flat().filter((count) => count > 0)).toEqual([])
      },
      { withinMs: 30_000 },
    )
  }, 120_000)

  test('the ledger holds the services and the user, as legacy members read them', async () => {
    const services = (await client.client.getBucket({ bucket: 'services' })) as Record<string, unknown>
    expect(services['echo']).toEqual({ PeerID: provider.id, Name: 'echo' })
    const users = (await client.client.getBucket({ bucket: 'users' })) as Record<string, unknown>
    expect(users[client.id]).toMatchObject({ PeerID: client.id })
  })
})

describe('mesh service-add and mesh service-connect', () => {
  test('serve from nodes of their own, follow a provider that was killed and came back, and clean up', async () => {
    const own = makeToken()
    const echo = await target(startEcho())
    const hub = await mesh.start({ command: 'start', token: own })
    const offered = { command: 'service-add', token: own, until: 'service offered' } as const
    const stateDir = mesh.makeFolder()
    const args = [bootstrap(hub), 'echo', `127.0.0.1:${echo.port}`, 'again', `:${echo.port}`]
    const provider = await mesh.start({ ...offered, args, stateDir })
    const client = await mesh.start({
      command: 'service-connect',
      token: own,
      args: [bootstrap(hub), 'echo', '127.0.0.1:0', 'again', '127.0.0.1:0'],
      until: 'service reached',
    })
    const port = await portOf(client, 'echo')
    for (const each of [port, await portOf(client, 'again')]) {
      expect((await exchange(each, Buffer.from('one'))).toString()).toBe('one')
    }

    await provider.kill()
    const failed = await exchange(port, Buffer.from('none')).catch(
      (error: NodeJS.ErrnoException) => error.code,
    )
    expect(failed).toBe('ECONNRESET')
    const again = await mesh.start({ ...offered, args, stateDir })
    expect(again.id).toBe(provider.id)
    await eventually(async () => expect((await exchange(port, Buffer.from('two'))).toString()).toBe('two'), {
      withinMs: 30_000,
    })
    const { code } = await again.stop('SIGINT')
    expect(code).toBe(0)
    await eventually(async () => expect(await hub.client.getBucket({ bucket: 'services' })).toEqual({}))
  })

  test.each([
    [['service-add', 'web'], 'TARGET is missing'],
    [['service-add'], 'NAME is missing'],
    [['service-add', 'web', ':80', 'db'], 'TARGET of "db" is missing'],
    [['service-add', 'web', 'nowhere'], 'HOST:PORT'],
    [['service-connect', 'web', '127.0.0.1:70000'], 'HOST:PORT'],
    [['start', '--service-add', 'web'], 'NAME=TARGET'],
  ])('%j is refused with the form that would be right', async (args, expected) => {
    const { code, stderr } = await mesh.run([...args], { environment: { MESHTOKEN: token } })
    expect([code, stderr]).toEqual([2, expect.stringContaining(expected)])
  })

  test('a port in use is told in one line', async () => {
    const busy = await target(startEcho())
    const { code, stderr } = await mesh.run(
      ['service-connect', 'web', `127.0.0.1:${busy.port}`, '--private', '--mdns=false', '--log-level=error'],
      { environment: { MESHTOKEN: makeToken() } },
    )
    expect([code, stderr]).toEqual([1, expect.stringContaining('somebody listens there already')])
  })
})

describe('what may go wrong with a service', () => {
  test('it is withdrawn while its target does not answer, with a problem that says so, and comes back', async () => {
    const own = makeToken()
    const echo = await startEcho()
    const provider = await mesh.start({ token: own, args: [`--service-add=echo=:${echo.port}`] })
    const held = async () => Object.keys((await provider.client.getBucket({ bucket: 'services' })) as object)
    // a node that is alone waits for others before it claims a name
    await eventually(async () => expect(await held()).toEqual(['echo']), { withinMs: 20_000 })
    await echo.close()
    // the next check, or a connection of a client, finds it
    await eventually(async () => expect(await held()).toEqual([]), { withinMs: 30_000 })
    const { Problems } = await provider.client.getHealth()
    expect(Problems.map(({ Code }) => Code)).toContain('services.target_down')
    await target(startEcho(echo.port))
    await eventually(async () => expect(await held()).toEqual(['echo']), { withinMs: 30_000 })
  })

  test('a name of another live member stays theirs, and a further provider is told beside it', async () => {
    const own = makeToken()
    const echo = await target(startEcho())
    const args = [`--service-add=echo=:${echo.port}`]
    const first = await mesh.start({ token: own, args, until: 'service offered' })
    await eventually(async () =>
      expect(await first.client.getBucket({ bucket: 'services' })).toHaveProperty('echo'),
    )
    const second = await mesh.start({ token: own, args: [...args, bootstrap(first)] })
    await eventually(async () =>
      expect(await first.client.listServices()).toEqual([
        { Name: 'echo', PeerID: first.id, Providers: [second.id] },
      ]),
    )
    expect(await second.client.getBucket({ bucket: 'services' })).toMatchObject({
      echo: { PeerID: first.id },
    })
  })
})
