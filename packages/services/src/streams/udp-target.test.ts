import { createSocket } from 'node:dgram'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { openUdpTarget } from './udp-target.ts'

const closers: (() => unknown)[] = []
afterEach(() => {
  for (const close of closers.splice(0).reverse()) close()
})

/** A program that answers each datagram with its own address. */
async function answerAt(address: string, port = 0): Promise<number> {
  const socket = createSocket('udp4', (datagram, from) =>
    socket.send(`${address} ${datagram.toString()}`, from.port, from.address),
  )
  await new Promise<void>((resolve) => socket.bind(port, address, resolve))
  closers.push(() => socket.close())
  return socket.address().port
}

async function openTarget(port: number) {
  const [answers, errors] = [[] as string[], [] as string[]]
  const target = await openUdpTarget(
    ['127.0.0.81', '127.0.0.82'].map((host) => ({ host, port })),
    {
      onDatagram: (datagram) => answers.push(Buffer.from(datagram).toString()),
      onError: (error) => errors.push(error.message),
      clock: systemClock,
    },
  )
  closers.push(() => target.close())
  return { answers, errors, send: (text: string) => target.send(Buffer.from(text)) }
}

test('datagrams that the first address of a name refuses go to the next one', async () => {
  const { answers, errors, send } = await openTarget(await answerAt('127.0.0.82'))
  send('a')
  send('b')
  await eventually(() => expect(answers).toEqual(['127.0.0.82 a', '127.0.0.82 b']))
  send('c')
  await eventually(() => expect(answers.at(-1)).toBe('127.0.0.82 c'))
  expect(errors).toEqual([])
})

test('an address that answers is used alone', async () => {
  const port = await answerAt('127.0.0.81')
  await answerAt('127.0.0.82', port)
  const { answers, send } = await openTarget(port)
  send('a')
  await eventually(() => expect(answers).toEqual(['127.0.0.81 a']))
})

test('a refusal by all addresses is told, and a program that starts later is reached', async () => {
  const port = await answerAt('127.0.0.81')
  closers.pop()?.()
  const { answers, errors, send } = await openTarget(port)
  send('a')
  await eventually(() => expect(errors).toHaveLength(1))
  await answerAt('127.0.0.82', port)
  await eventually(() => {
    send('b')
    expect(answers).toContain('127.0.0.82 b')
  })
})
