/** Keys rotate every 5 s under constant traffic, and nothing is lost. */
import { delay, systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterAll, expect, test } from 'vitest'
import { createTestNetwork, type TestMember, type TestNetwork } from './members.ts'

const INTERVAL_S = 5
const ROTATIONS = 3
const networks: TestNetwork[] = []

afterAll(() => Promise.all(networks.map((network) => network.stop())))

function network(): TestNetwork {
  const made = createTestNetwork({ intervalS: INTERVAL_S })
  networks.push(made)
  return made
}

const GOOD = { lost: [], repeated: [], refused: {} }

test('three members in a row lose nothing while keys rotate', async () => {
  const { member } = network()
  const [a, b, c] = await Promise.all([member(), member(), member()])
  await a.connect(b)
  await b.connect(c)
  expect(await talkThroughRotations([a, b, c], 50)).toEqual([GOOD, GOOD, GOOD])
}, 35_000)

test('ten members around one bootstrap node lose nothing while keys rotate', async () => {
  const { member } = network()
  const hub = await member()
  const leaves = await Promise.all(Array.from({ length: 9 }, () => member()))
  await Promise.all(leaves.map((leaf) => leaf.connect(hub)))
  expect(await talkThroughRotations([hub, ...leaves], 250)).toEqual(Array.from({ length: 10 }, () => GOOD))
}, 35_000)

/**
 * Everyone says something every `everyMs`, and on a busy machine no sooner than all have heard what was said before, until
 * the window has changed three times; then all should have all.
 */
async function talkThroughRotations(members: readonly TestMember[], everyMs: number) {
  await allHearAll(members)
  const boundaries = Math.floor(systemClock.now() / (INTERVAL_S * 1000)) + ROTATIONS
  const endMs = boundaries * INTERVAL_S * 1000 + 700
  const said = members.map((): string[] => [])
  const summary = () =>
    members.map(({ heard, refusals }, at) => ({
      lost: said.flatMap((texts, by) => (by === at ? [] : texts.filter((text) => !heard.includes(text)))),
      repeated: heard.filter((text, first) => text !== 'hello' && heard.indexOf(text) !== first),
      refused: refusals.counts(),
    }))
  const allHeard = () => {
    const missing = summary().reduce((sum, { lost }) => sum + lost.length, 0)
    if (missing > 0) throw new Error(`${missing} missing`)
  }
  let isComplete = true
  for (let round = 0; systemClock.now() < endMs; round++) {
    await Promise.all(
      members.map(async (member, at) => {
        said[at]?.push(`${at}/${round}`)
        await member.say(`${at}/${round}`)
      }),
    )
    await delay(systemClock, everyMs)
    // what is lost stays lost, and is waited for once
    if (isComplete)
      isComplete = await eventually(allHeard, { withinMs: 3000 }).then(
        () => true,
        () => false,
      )
  }
  return summary()
}

async function allHearAll(members: readonly TestMember[]): Promise<void> {
  const heardFrom = members.map((member) => {
    const authors = new Set<string>()
    member.topic.onMessage(({ author }) => authors.add(author))
    return authors
  })
  await eventually(
    async () => {
      for (const member of members) await member.say('hello')
      for (const authors of heardFrom) expect(authors.size).toBe(members.length - 1)
    },
    { withinMs: 5000, everyMs: 100 },
  )
}
