/** Three nodes on real processes, of which two have clocks of their own: wrong, set while they run, and right again. */
import { join } from 'node:path'
import { parseHeartbeat, systemClock } from '@mesh/core'
import { eventually, freePort } from '@mesh/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { suiteName } from './suite.ts'
import { createSetClock, findFakeTime, type SetClock } from './wrong-clocks.ts'

const SOON = { withinMs: 20_000, everyMs: 100 }
/** A write is committed in milliseconds; the rest is for a machine that is busy. */
const COMMITTED_WITHIN_MS = 3_000
const HOUR = 60
const library = findFakeTime()
const why = library === undefined ? 'libfaketime is not installed' : undefined

describe.skipIf(why !== undefined)(suiteName('clocks that are wrong', why), () => {
  const mesh = createMesh()
  const token = makeToken()
  const clockOf = (name: string) => createSetClock(library ?? '', join(mesh.folder, name))
  const clocks = [clockOf('left'), clockOf('right')] as const
  const folders = [mesh.makeFolder(), mesh.makeFolder(), mesh.makeFolder()] as const
  const written: string[] = []
  let homeArgs: readonly string[]
  let home: NodeProcess
  let left: NodeProcess
  let right: NodeProcess
  beforeAll(async () => {
    homeArgs = [`--listen-maddrs=/ip4/127.0.0.1/tcp/${await freePort()}`]
    home = await mesh.start({ token, stateDir: folders[0], args: homeArgs })
  })
  afterAll(() => mesh.cleanUp())

  /** The clocks of the two, in minutes ahead. */
  function set(leftMinutes: number, rightMinutes: number): void {
    clocks[0].set(leftMinutes)
    clocks[1].set(rightMinutes)
  }

  async function begin(): Promise<void> {
    const args = [`--discovery-bootstrap-peers=${home.addresses[0]}`]
    const start = ({ environment }: SetClock, stateDir: string) =>
      mesh.start({ token, args, stateDir, environment })
    ;[left, right] = await Promise.all([start(clocks[0], folders[1]), start(clocks[1], folders[2])])
  }

  /** Each node writes, and waits for none of its neighbours' clocks. */
  async function writeEverywhere(what: string): Promise<void> {
    const write = async ({ client }: NodeProcess, name: string) => {
      const began = performance.now()
      const key = `${what} ${name}`
      const { State } = await client.putText({ bucket: 'notes', key, value: '1', wait: '5s' })
      expect([key, State]).toEqual([key, 'Committed'])
      expect(performance.now() - began).toBeLessThan(COMMITTED_WITHIN_MS)
      written.push(key)
    }
    await Promise.all([write(home, 'home'), write(left, 'left'), write(right, 'right')])
  }

  const problemOf = async ({ client }: NodeProcess) => {
    const { Problems } = await client.getHealth()
    return Problems.filter(({ Code }) => Code.includes('clock')).map(({ Code, Title }) => `${Code}: ${Title}`)
  }

  /** What health says of the clock at home, left and right. */
  const expectProblems = (...expected: readonly (readonly (string | RegExp)[])[]) =>
    eventually(
      async () =>
        expect(await Promise.all([home, left, right].map(problemOf))).toEqual(
          expected.map((list) => list.map((text) => expect.stringMatching(text) as string)),
        ),
      SOON,
    )

  /**
   * Gives the keys that were written, once all ledgers are equal and have them, nobody's clock is wrong, and everybody is
   * alive.
   */
  const equalNotes = () =>
    eventually(async () => {
      const [first, ...others] = await Promise.all(
        [home, left, right].map(({ client }) => client.getDigest()),
      )
      for (const other of others) expect(other.Buckets).toEqual(first?.Buckets)
      const notes = await home.client.getBucket({ bucket: 'notes' })
      expect(Object.keys(notes).toSorted()).toEqual(written.toSorted())
      const beats = Object.values(await home.client.getBucket({ bucket: 'healthcheck' }))
      const oldMs = beats.map((value) => systemClock.now() - (parseHeartbeat(JSON.stringify(value)) ?? 0))
      // a clock may be a minute and a half ahead, and whose was right again has signed anew
      expect(oldMs.map((ms) => Math.abs(ms) < 150_000)).toEqual([true, true, true])
      for (const node of [home, left, right]) expect(await problemOf(node)).toEqual([])
      return Object.keys(notes)
    }, SOON)

  test('an hour ahead and an hour behind: all write, and each says whose clock is wrong', async () => {
    set(HOUR, -HOUR)
    await begin()
    await writeEverywhere('wrong')
    await expectProblems(
      [/clocks_differ: .* 2 of 2 members .*: .* is 60 minutes (ahead|behind), /],
      [/clock_wrong: This machine's clock is 60 minutes ahead of/],
      [/clock_wrong: This machine's clock is 60 minutes behind/],
    )
    const ask = (words: string, { url }: NodeProcess) => mesh.run([words, `--api-url=${url}`])
    const [status, doctor] = await Promise.all([ask('status', right), ask('doctor', left)])
    expect(status.stdout).toMatch(/^ERROR: This machine's clock is 60 minutes behind/m)
    expect(doctor.stdout).toMatch(/^FAIL {2}clock +This clock is 3[56]\d\d s ahead of/m)
    expect(doctor.code).toBe(1)
  })

  test('set right while they run, all ledgers become equal', async () => {
    set(0, 0)
    await writeEverywhere('right')
    expect(await equalNotes()).toHaveLength(written.length)
  })

  test('set wrong while they run they write and dial, also after a start, and are well when they start right', async () => {
    set(HOUR, -HOUR)
    await home.kill()
    home = await mesh.start({ token, stateDir: folders[0], args: homeArgs })
    await writeEverywhere('stepped')
    await eventually(async () => {
      const peers = await home.client.listPeers()
      expect(peers.filter(({ Connected, Member }) => Connected && Member)).toHaveLength(2)
    }, SOON)
    await Promise.all([left.kill(), right.kill()])
    await begin()
    await writeEverywhere('started wrong')
    await Promise.all([left.kill(), right.kill()])
    set(0, 0)
    await begin()
    await writeEverywhere('started right')
    expect(await equalNotes()).toHaveLength(written.length)
  })

  test('a minute and a half is borne; five minutes and ten are told, and mended like an hour', async () => {
    set(1.5, 0)
    await writeEverywhere('a little')
    expect(await equalNotes()).toHaveLength(written.length)
    set(5, -10)
    await writeEverywhere('minutes')
    await expectProblems(
      [/clocks_differ: .*: .* is 10 minutes behind, .* is 5 minutes ahead/],
      [/clock_wrong: This machine's clock is 5 minutes ahead/],
      [/clock_wrong: This machine's clock is 10 minutes behind/],
    )
    set(0, 0)
    expect(await equalNotes()).toHaveLength(written.length)
  })
  test('both ahead, by an hour and by two: what they took from each other gives way when they are right', async () => {
    set(2 * HOUR, HOUR)
    await writeEverywhere('ahead')
    await eventually(async () => {
      expect(await left.client.getBucket({ bucket: 'notes' })).toHaveProperty('ahead right')
    }, SOON)
    set(0, 0)
    expect(await equalNotes()).toHaveLength(written.length)
  })
})
