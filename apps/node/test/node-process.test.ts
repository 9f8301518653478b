/** What a person sees of real nodes: starting, sharing, stopping, and coming back. */
import { existsSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { ApiEvent } from '@mesh/api-contract'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createMesh, makeToken, type Mesh, type NodeProcess, type StartOptions } from './harness.ts'

const BUILT = join(import.meta.dirname, '../dist/main.js')
/** Two seconds are the aim; the rest is for a machine that runs other tests. */
const STOP_MS = 2_000

let mesh: Mesh
beforeEach(() => {
  mesh = createMesh()
})
afterEach(() => mesh.cleanUp())

/** Figures for the person who runs the tests; nothing depends on them. */
const report = (line: string) => void process.stdout.write(`${line}\n`)

const joining = (others: readonly NodeProcess[]) =>
  others.flatMap(({ addresses }) => addresses.map((address) => `--discovery-bootstrap-peers=${address}`))

/** A hub and leaves around it, all connected. */
async function startNetwork(count: number, options: Partial<StartOptions> = {}) {
  const token = makeToken()
  const hub = await mesh.start({ token, ...options })
  const leaves: NodeProcess[] = []
  for (let at = 1; at < count; at++) {
    leaves.push(await mesh.start({ token, ...options, args: [...(options.args ?? []), ...joining([hub])] }))
  }
  await eventually(
    async () => {
      for (const node of [hub, ...leaves]) {
        const { OnChainNodes } = await node.client.getSummary()
        expect(OnChainNodes).toBe(count - 1)
      }
    },
    { withinMs: 30_000 },
  )
  return { token, hub, leaves, nodes: [hub, ...leaves] }
}

const readsEverywhere = (nodes: readonly NodeProcess[], key: string, value: unknown, withinMs = 10_000) =>
  eventually(
    async () => {
      for (const node of nodes) expect(await node.client.getEntry({ bucket: 'test', key })).toEqual(value)
    },
    { withinMs, everyMs: 2 },
  )

/** Equal on all in the bucket `test`; those of the nodes themselves come later. */
const sameDigest = (nodes: readonly NodeProcess[], entries: number, withinMs = 30_000) =>
  eventually(
    async () => {
      const digests = await Promise.all(nodes.map((node) => node.client.getDigest()))
      expect(new Set(digests.map(({ Buckets }) => Buckets['test'])).size).toBe(1)
      const held = await nodes[0]?.client.getBucket({ bucket: 'test' })
      expect(Object.keys(held ?? {})).toHaveLength(entries)
      return digests[0]?.Buckets['test']
    },
    { withinMs, everyMs: 50 },
  )

type LedgerChange = Extract<ApiEvent, { type: 'ledger.changed' }>['data']['Changes'][number]

test('a node that is alone holds claims for a second, and writes nothing but its heartbeat', async () => {
  const { hub } = await startNetwork(1)
  const began = performance.now()
  const body = { Regex: '^alone$', Records: { A: '10.1.0.1' } }
  expect(await hub.client.createDns({ body, wait: '10s' })).toMatchObject({ State: 'Committed' })
  const heldMs = performance.now() - began
  report(`a name of a lone node is committed ${heldMs.toFixed(0)} ms after its host listens`)
  expect(heldMs).toBeLessThan(2_000)
  await hub.client.deleteEntry({ bucket: 'dns', key: '^alone$', wait: '5s' })
  expect(Object.keys(await hub.client.getLedger())).toEqual(['healthcheck'])
})

describe('three nodes with one token', () => {
  test('what one writes the others read, each way, and the delay is measured', async () => {
    const { nodes } = await startNetwork(3)
    const delays: number[] = []
    for (let round = 0; round < 30; round++) {
      const writer = nodes[round % nodes.length]
      if (writer === undefined) continue
      const others = nodes.filter((node) => node !== writer)
      const began = performance.now()
      await writer.client.putText({ bucket: 'test', key: `k${round}`, value: 'v' })
      await readsEverywhere(others, `k${round}`, 'v')
      delays.push(performance.now() - began)
    }
    delays.sort((a, b) => a - b)
    report(
      `write to read on both others, ms: median ${delays[15]?.toFixed(1)}, most ${delays.at(-1)?.toFixed(1)}`,
    )
    // the bench measures on an idle machine; here the rest of the tests may run beside
    expect(delays[15]).toBeLessThan(1_000)
    await sameDigest(nodes, 30)
  })

  test('events tell of the write on the node that did not make it', async () => {
    const { hub, leaves } = await startNetwork(2)
    const [leaf] = leaves
    if (leaf === undefined) throw new Error('two nodes')
    const stop = new AbortController()
    const seen: LedgerChange[] = []
    const opened = Promise.withResolvers<void>()
    const watching = (async () => {
      const onState = () => opened.resolve()
      const events = leaf.client.events({ types: ['ledger.changed'], signal: stop.signal, onState })
      for await (const event of events) if (event.type === 'ledger.changed') seen.push(...event.data.Changes)
    })()
    watching.catch(() => {})
    await opened.promise
    await hub.client.putText({ bucket: 'test', key: 'event', value: '1' })
    // heartbeats are told, too
    await eventually(() =>
      expect(seen).toContainEqual(
        expect.objectContaining({ Bucket: 'test', Key: 'event', Origin: 'remote', Owner: hub.id }),
      ),
    )
    stop.abort()
  })

  test('one that was killed comes back as itself and catches up with 1,000 missed writes', async () => {
    const { token, hub, leaves, nodes } = await startNetwork(3)
    const [killed, other] = leaves
    if (killed === undefined || other === undefined) throw new Error('too few nodes')
    await killed.client.putText({ bucket: 'test', key: 'own', value: 'kept', wait: '5s' })
    await readsEverywhere(nodes, 'own', 'kept')
    expect((await killed.kill()).signal).toBe('SIGKILL')

    await Promise.all(
      Array.from({ length: 1_000 }, (_, at) =>
        hub.client.putText({ bucket: 'test', key: `missed${at}`, value: `${at}` }),
      ),
    )
    await sameDigest([hub, other], 1_001)
    const back = await mesh.start({ token, stateDir: killed.stateDir, args: joining([hub]) })
    expect(back.id).toBe(killed.id)
    const began = performance.now()
    await sameDigest([hub, other, back], 1_001)
    report(`1,000 missed writes caught up within ${(performance.now() - began).toFixed(0)} ms of listening`)
    await back.client.putText({ bucket: 'test', key: 'own', value: 'changed', wait: '5s' })
    await readsEverywhere([hub, other, back], 'own', 'changed')
  })

  test('one that comes back claims no name that another took meanwhile, however early it is asked to', async () => {
    const lease = ['--aliveness-healthcheck-interval=2s', '--ownership-ttl=8s']
    const { token, hub, leaves } = await startNetwork(2, { args: lease })
    const [leaf] = leaves
    if (leaf === undefined) throw new Error('too few nodes')
    const name = (address: string) => ({ Regex: '^git$', Records: { A: address } })
    await leaf.client.createDns({ body: name('10.1.0.2'), wait: '20s' })
    await eventually(async () => expect(await hub.client.listDns({})).toEqual([name('10.1.0.2')]))
    await leaf.kill()
    // refused until the lease of the one that was killed ends
    await eventually(() => hub.client.createDns({ body: name('10.1.0.1'), wait: '20s' }), {
      withinMs: 30_000,
      everyMs: 500,
    })

    const args = [...lease, ...joining([hub])]
    const back = await mesh.start({ token, stateDir: leaf.stateDir, args, until: 'api listening' })
    const claim = back.client.createDns({ body: name('10.1.0.3'), wait: '30s' })
    const open = back.client.putText({ bucket: 'test', key: 'open', value: '1', wait: '5s' })
    await expect(claim).rejects.toMatchObject({ status: 409, code: 'ledger.not_owner', owner: hub.id })
    expect(await open).toMatchObject({ State: 'Committed' })
    for (const node of [hub, back]) {
      await eventually(async () => expect(await node.client.listDns({})).toEqual([name('10.1.0.1')]))
    }
    const { Storage } = await back.client.getBlock({})
    expect(Storage['dns']?.['^git$']?.Owner).toBe(hub.id)
  })

  test('one that was stopped for a while resumes with what it missed', async () => {
    const { hub, leaves, nodes } = await startNetwork(3)
    const [stopped, other] = leaves
    stopped?.suspend()
    for (let at = 0; at < 20; at++)
      await hub.client.putText({ bucket: 'test', key: `s${at}`, value: 'v', wait: '5s' })
    const written = await sameDigest([hub, ...(other === undefined ? [] : [other])], 20)
    stopped?.resume()
    expect(await sameDigest(nodes, 20, 60_000)).toBe(written)
  })
})

describe('one node', () => {
  test('starts without an error, answers, and stops within two seconds of SIGTERM, and of Ctrl-C', async () => {
    const token = makeToken()
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const node = await mesh.start({ token, until: 'all transports listening' })
      expect(await node.client.getLiveness()).toBe('ok\n')
      const { code, afterMs } = await node.stop(signal)
      expect(code).toBe(0)
      expect(afterMs).toBeLessThan(STOP_MS)
      expect(node.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
      expect(() => statSync(node.controlSocket)).toThrow('ENOENT')
    }
  })

  test('stops in time while readers hold the event stream open and a write waits', async () => {
    const node = await mesh.start({ token: makeToken() })
    const stop = new AbortController()
    const reading = (async () => {
      for await (const event of node.client.events({ signal: stop.signal })) expect(event).toBeDefined()
    })()
    // held for five seconds, as nobody is there
    const body = { Regex: '^a$', Records: { A: '10.1.0.1' } }
    const waiting = node.client.createDns({ body, wait: '60s' }).catch((error: unknown) => error)
    await node.client.putText({ bucket: 'test', key: 'a', value: '1', wait: '5s' })
    const { code, afterMs } = await node.stop()
    stop.abort()
    await reading
    expect(await waiting).toMatchObject({ status: 503, code: 'ledger.stopped' })
    expect(code).toBe(0)
    expect(afterMs).toBeLessThan(STOP_MS)
  })

  test('is refused while another holds the instance, told who and what to do, and runs beside it under a name', async () => {
    const token = makeToken()
    const first = await mesh.start({ token })
    const args = ['start', `--state-dir=${first.stateDir}`, '--private', '--mdns=false', '--dht=false']
    const refused = await mesh.run(args, { environment: { MESHTOKEN: token } })
    expect(refused).toMatchObject({ code: 1, stdout: '' })
    expect(refused.stderr).toContain(`in use by process ${first.pid} [node.locked]`)
    expect(refused.stderr).toContain('--instance NAME')
    const second = await mesh.start({ token, stateDir: first.stateDir, args: ['--instance=second'] })
    expect(second.id).not.toBe(first.id)
  })

  test('goes on when whoever reads its log has died', async () => {
    const token = makeToken()
    const node = await mesh.start({ token, until: 'all transports listening' })
    node.stopReading()
    const other = await mesh.start({ token, args: joining([node]) })
    await other.client.putText({ bucket: 'test', key: 'a', value: '1', wait: '5s' })
    await readsEverywhere([node], 'a', '1', 20_000)
    const { code, afterMs } = await node.stop()
    expect(code).toBe(0)
    expect(afterMs).toBeLessThan(2_500)
  })

  test('keeps nothing with --ephemeral', async () => {
    const token = makeToken()
    const first = await mesh.start({ token, args: ['--ephemeral'] })
    await first.client.putText({ bucket: 'test', key: 'a', value: '1', wait: '5s' })
    await first.stop()
    const again = await mesh.start({ token, stateDir: first.stateDir, args: ['--ephemeral'] })
    expect(again.id).not.toBe(first.id)
    expect(await again.client.getLedger()).toEqual({})
  })

  test('keeps its identity and ledger over a clean end', async () => {
    const token = makeToken()
    const first = await mesh.start({ token, command: 'start' })
    await first.client.putText({ bucket: 'test', key: 'a', value: '1', wait: '5s' })
    await first.stop()
    const again = await mesh.start({ token, command: 'start', stateDir: first.stateDir })
    expect(again.id).toBe(first.id)
    expect(await again.client.getEntry({ bucket: 'test', key: 'a' })).toBe('1')
  })

  test('serves a unix socket with its mode, and removes it', async () => {
    const socket = join(mesh.folder, 'api.sock')
    const node = await mesh.start({
      token: makeToken(),
      args: [`--listen=unix://${socket}`],
      environment: { APILISTENUNIXMODE: '0600' },
    })
    expect(statSync(socket).mode & 0o777).toBe(0o600)
    expect(statSync(node.controlSocket).mode & 0o777).toBe(0o600)
    expect(await node.client.getLiveness()).toBe('ok\n')
    await node.stop()
    expect(() => statSync(socket)).toThrow('ENOENT')
  })

  test('ends at once at the second Ctrl-C, even while a request holds it up', async () => {
    const node = await mesh.start({ token: makeToken() })
    const half = connect(Number(new URL(node.url).port), '127.0.0.1')
    half.on('error', () => {})
    half.write(
      'PUT /api/ledger/a/b HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\nContent-Type: application/json\r\n\r\n{',
    )
    // a whole request afterwards, so that the half one has arrived before
    await node.client.getSummary()
    process.kill(node.pid, 'SIGINT')
    await node.waitForLine('stopping')
    const { code, afterMs } = await node.stop('SIGINT')
    half.destroy()
    expect(code).toBe(130)
    expect(afterMs).toBeLessThan(500)
  })

  test('says in one line that a port is taken, and leaves nothing behind', async () => {
    const token = makeToken()
    const first = await mesh.start({ token })
    const refused = await mesh.run(['api', `--listen=${new URL(first.url).host}`, '--ephemeral'], {
      environment: { MESHTOKEN: token },
    })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('the port is in use')
    expect(refused.stderr).not.toContain('    at ')
  })
})

describe.skipIf(!existsSync(BUILT))('the build', () => {
  test('starts without an error, serves its page compressed, and shares with a node run from source', async () => {
    const token = makeToken()
    const built = await mesh.start({ token, built: true, until: 'all transports listening' })
    const other = await mesh.start({ token, built: false, args: joining([built]) })
    expect(built.lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([])
    const page = await fetch(`${built.url}/machines`)
    expect(page.headers.get('content-type')).toContain('text/html')
    const script = /\/assets\/[^"]+\.js/.exec(await page.text())?.[0] ?? ''
    const answer = await fetch(built.url + script)
    expect(answer.headers.get('content-encoding')).toBe('gzip')
    expect(answer.headers.get('content-type')).toContain('text/javascript')
    await built.client.putText({ bucket: 'test', key: 'a', value: '1', wait: '5s' })
    await readsEverywhere([other], 'a', '1', 20_000)
    const milestones = ['api listening', 'host listening', 'all transports listening'] as const
    report(
      milestones
        .map(
          (name) => `${name} ${String(built.lines.find(({ message }) => message === name)?.['afterMs'])} ms`,
        )
        .join(', '),
    )
    expect((await built.stop()).code).toBe(0)
  })
})
