/** DNS of a node on a machine whose network changes: its servers, its addresses, and who else writes its resolver. */
import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { runTool, whyNoDnsTools } from './dns-lab.ts'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { createCleanUps, suiteName } from './suite.ts'

const why = whyNoDnsTools(['dig', 'dnsmasq']) ?? whyNoNamespaces(['ip'])
const cleanUps = createCleanUps()
const SOON = { withinMs: 10_000, everyMs: 100 }
/** A server of other names on the machine itself, which the node asks. */
const UPSTREAM = '127.0.0.9'

/** Hosts joined in a row; the first one's /etc/resolv.conf is its own. */
function createHosts(names: readonly string[]) {
  const lab = createLab(names)
  cleanUps.push(() => lab.close())
  const folder = `/etc/netns/${lab.name(names[0] ?? '')}`
  mkdirSync(folder, { recursive: true })
  cleanUps.push(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'resolv.conf')
  const write = (text: string) => writeFileSync(file, text)
  write('')
  return { lab, write, read: () => readFileSync(file, 'utf8') }
}

/** dnsmasq in a host, which knows www.example.org. */
async function startUpstream(
  lab: Lab,
  host: string,
  address: string,
  listen = `--listen-address=${address}`,
) {
  const own = ['dnsmasq', '-k', listen, '--bind-interfaces', '--no-resolv', '--no-hosts']
  const records = ['--host-record=www.example.org,192.0.2.80', '--pid-file=', '--conf-file=/dev/null']
  const [file, ...words] = lab.inside(host, [...own, ...records])
  const child = spawn(file, words, { stdio: 'ignore' })
  cleanUps.push(() => child.kill('SIGKILL'))
  await eventually(() => ask(lab, host, address), SOON)
}

async function startNode(lab: Lab, args: readonly string[], until = 'dns listening') {
  const mesh = createMesh()
  cleanUps.push(() => mesh.cleanUp())
  const node = await mesh.start({ token: makeToken(), prefix: lab.inside('host', []), args, until })
  return { mesh, node }
}

function ask(lab: Lab, host: string, server: string, name = 'www.example.org'): Promise<string> {
  const [file, ...words] = lab.inside(host, ['dig', `@${server}`, '+tries=1', '+time=2', name])
  return runTool(file, words)
}

async function problemsOf({ control }: NodeProcess) {
  const { Problems } = await control.getHealth()
  return Problems.map(({ Code }) => Code).filter((code) => code.startsWith('dns.'))
}

describe.skipIf(why !== undefined)(suiteName('the servers that a machine names', why), () => {
  test('are followed: a node that started before the network asks those that come later', async () => {
    const { lab, write } = createHosts(['host'])
    await startUpstream(lab, 'host', UPSTREAM)
    const { node } = await startNode(lab, ['--dns=127.0.0.1:53'])
    expect(await ask(lab, 'host', '127.0.0.1')).toContain('status: REFUSED')
    expect(await problemsOf(node)).toEqual(['dns.no_forwarder'])
    write(`nameserver ${UPSTREAM}\n`)
    await eventually(async () => expect(await ask(lab, 'host', '127.0.0.1')).toContain('192.0.2.80'), SOON)
    expect(await problemsOf(node)).toEqual([])
    // another network, whose server is this node: it never asks itself
    write('nameserver 127.0.0.1\n')
    await eventually(async () => expect(await problemsOf(node)).toEqual(['dns.forwards_to_itself']), SOON)
    expect(await ask(lab, 'host', '127.0.0.1')).toContain('status: REFUSED')
  })

  test('are left alone where the machine names this node alone, and a server was given', async () => {
    const { lab, write } = createHosts(['host'])
    write('nameserver 127.0.0.1\n')
    await startUpstream(lab, 'host', UPSTREAM)
    const { node } = await startNode(lab, ['--dns=127.0.0.1:53', `--dns-forward-server=${UPSTREAM}`])
    expect(await ask(lab, 'host', '127.0.0.1')).toContain('192.0.2.80')
    expect(await problemsOf(node)).toEqual([])
  })

  test('are asked over the link that they are local to', async () => {
    const { lab, write } = createHosts(['host', 'router'])
    lab.wire(
      { host: 'host', device: 'eth0', addresses: ['fe80::5/64'] },
      { host: 'router', device: 'eth0', addresses: ['fe80::53/64', '192.0.2.1/24'] },
    )
    write('nameserver fe80::53%eth0\n')
    await startUpstream(lab, 'router', 'fe80::53%eth0', '--interface=eth0')
    const { node } = await startNode(lab, ['--dns=127.0.0.1:53'])
    expect(await ask(lab, 'host', '127.0.0.1')).toContain('192.0.2.80')
    expect((await node.control.getDnsServer()).Forwarders).toMatchObject([{ Server: '[fe80::53%eth0]:53' }])
  })
})

describe.skipIf(why !== undefined)(suiteName('a node that answers DNS at all addresses', why), () => {
  test('answers from the address that was asked, also from one that came later', async () => {
    const { lab } = createHosts(['host', 'client'])
    const addresses = ['192.168.70.1/24', '192.168.70.2/24', 'fd00:70::1/64', 'fd00:70::2/64']
    lab.wire(
      { host: 'host', device: 'eth0', addresses },
      { host: 'client', device: 'eth0', addresses: ['192.168.70.9/24', 'fd00:70::9/64'] },
    )
    await startNode(lab, ['--dns=:53', '--no-dns-forwarder'])
    const answers = async (server: string) =>
      expect(await ask(lab, 'client', server, 'absent.mesh')).toContain('status: NXDOMAIN')
    for (const address of addresses) await answers(address.split('/')[0] ?? '')
    for (const address of ['192.168.70.3/24', 'fd00:70::3/64']) {
      lab.run('host', ['ip', 'address', 'add', address, 'dev', 'eth0'])
      await eventually(() => answers(address.split('/')[0] ?? ''), SOON)
    }
  })
})

describe.skipIf(why !== undefined)(suiteName('--dns-configure', why), () => {
  const ARGS = ['--dns=127.0.0.1:53', '--dns-configure']
  const OURS = /^# Made by mesh[^\n]*\nnameserver 127\.0\.0\.1\n/

  test('that a DHCP client undid is made again, with the servers that it brought', async () => {
    const { lab, read, write } = createHosts(['host'])
    write('nameserver 192.0.2.1\n')
    await startUpstream(lab, 'host', UPSTREAM)
    const { node } = await startNode(lab, ARGS, 'resolver configured')
    expect(await problemsOf(node)).toEqual([])
    const leased = `search lease.example\nnameserver ${UPSTREAM}\n`
    write(leased)
    await node.waitForLine('resolver configuration was undone', 10_000)
    await node.waitForLine('resolver configured again', 10_000)
    expect(read()).toMatch(OURS)
    expect(read()).toContain(`nameserver ${UPSTREAM}\nsearch lease.example\n`)
    await eventually(async () => expect(await ask(lab, 'host', '127.0.0.1')).toContain('192.0.2.80'), SOON)
    expect(await problemsOf(node)).toEqual([])
    await node.stop()
    expect(read()).toBe(leased)
  })

  test('says in health and to the doctor that another program undoes it again and again', async () => {
    const { lab, read, write } = createHosts(['host'])
    const { mesh, node } = await startNode(lab, ARGS, 'resolver configured')
    const undo = async () => {
      await eventually(() => expect(read()).toMatch(OURS), { withinMs: 20_000 })
      write('nameserver 192.0.2.1\n')
      await eventually(async () => expect(await problemsOf(node)).toContain('dns.configuration_undone'), SOON)
    }
    for (let turn = 0; turn < 3; turn++) await undo()
    const doctor = await mesh.run(['doctor', `--state-dir=${node.stateDir}`], {
      prefix: lab.inside('host', []),
    })
    expect(doctor.stdout).toMatch(/another program has rewritten \/etc\/resolv\.conf/)
  })
})
