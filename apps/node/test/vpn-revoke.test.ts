/** A machine with an interface of its own is shut out: within seconds nobody takes its packets, and others go on. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bridge, createLab, eventually, type Lab } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { createCleanUps } from './suite.ts'
import { createVpnLab, ping, pingSoon, runIn, whyNoVpn } from './vpn-lab.ts'

const REVOKED_WITHIN_MS = 5_000

const why = whyNoVpn(['ip', 'ping'])
const cleanUps = createCleanUps()
const HOSTS = ['home', 'guest', 'bad']

describe.skipIf(why !== undefined)(
  `revocation and packets${why === undefined ? '' : ` (skipped: ${why})`}`,
  () => {
    test('who is shut out reaches nobody over its interface, by any way, and nobody reaches it', async () => {
      const { lab, home, guest, bad } = await startThree()
      for (const peer of [guest.id, bad.id]) {
        await home.control.putMember({ peer, body: { State: 'admitted' } })
      }
      await Promise.all([pingSoon(lab, 'bad', home.v4), pingSoon(lab, 'bad', guest.v4)])
      await pingSoon(lab, 'guest', home.v4)

      await home.control.putMember({ peer: bad.id, body: { State: 'revoked' } })
      const pairs = [
        ['bad', home.v4],
        ['bad', guest.v4],
        ['home', bad.v4],
        ['guest', bad.v4],
      ] as const
      await eventually(
        async () => {
          const lost = await Promise.all(pairs.map(([from, to]) => isLost(lab, from, to)))
          expect(lost).toEqual(pairs.map(() => true))
        },
        { withinMs: REVOKED_WITHIN_MS, everyMs: 100 },
      )
      // it goes on trying, on sessions that it still has keys of
      const tries = pairs.slice(0, 2).map(([from, to]) => isLost(lab, from, to, 10))
      await ping(lab, 'guest', home.v4, { count: 10 })
      expect(await Promise.all(tries)).toEqual([true, true])
      const { Problems } = await bad.control.getHealth()
      expect(Problems.map(({ Code }) => Code)).toContain('trust.revoked')
      // what tells of paths follows, too
      const { Peers } = await home.control.getVpn({})
      expect(Peers.map(({ PeerID }) => PeerID)).toEqual([guest.id])

      // let in again, it is a member as before
      await home.control.putMember({ peer: bad.id, body: { State: 'admitted' } })
      await Promise.all([pingSoon(lab, 'bad', home.v4), pingSoon(lab, 'guest', bad.v4)])
      await eventually(async () => {
        const again = (await bad.control.getHealth()).Problems
        expect(again.map(({ Code }) => Code)).not.toContain('trust.revoked')
      })
    }, 180_000)
  },
)

/** Is no single echo answered? */
async function isLost(lab: Lab, from: string, to: string, count = 1): Promise<boolean> {
  const argv = ['ping', '-n', '-q', '-i', '0.2', '-c', String(count), '-W', '1', to]
  return runIn(lab, from, argv).then(
    () => false,
    () => true,
  )
}

async function startThree() {
  const lab = createLab(['switch', ...HOSTS])
  const vpn = createVpnLab(lab)
  cleanUps.push(() => vpn.close())
  bridge(lab, 'switch', Object.fromEntries(HOSTS.map((host, at) => [host, [`192.168.97.${at + 1}/24`]])))
  const [tokenFile, stateDir] = [join(vpn.mesh.folder, 'token'), vpn.mesh.makeFolder()]
  writeFileSync(tokenFile, vpn.token, { mode: 0o600 })
  const init = await vpn.mesh.run(['admin', 'init', `--token-file=${tokenFile}`, `--state-dir=${stateDir}`])
  const token = init.stdout.trim()
  const args = (at: number) => [`--address=10.1.0.${at}/24`]
  const [home, guest, bad] = await Promise.all([
    vpn.start('home', args(1), { token, stateDir }),
    vpn.start('guest', args(2), { token }),
    vpn.start('bad', args(3), { token }),
  ])
  return { lab, home, guest, bad }
}
