import { expect, test } from 'vitest'
import { createNameResolver } from './resolve-name.ts'

const signal = new AbortController().signal
const fail = (code: string) => Promise.reject(Object.assign(new Error(code), { code }))

test('DNS is asked for both families, and the system only for names that DNS does not know', async () => {
  const asked: string[] = []
  const resolve = createNameResolver({
    async askDns(name, family) {
      if (name === 'v6.example') return family === 6 ? ['2001:db8::1'] : fail('ENODATA')
      if (name === 'broken.example') return fail('ESERVFAIL')
      return name === 'both.example' ? [family === 4 ? '192.0.2.1' : '2001:db8::1'] : fail('ENOTFOUND')
    },
    async askSystem(name) {
      asked.push(name)
      return ['10.0.0.5']
    },
  })
  expect(await resolve('both.example', signal)).toEqual(['192.0.2.1', '2001:db8::1'])
  expect(await resolve('v6.example', signal)).toEqual(['2001:db8::1'])
  await expect(resolve('broken.example', signal)).rejects.toThrow('ESERVFAIL')
  expect(await resolve('hosts.example', signal)).toEqual(['10.0.0.5'])
  expect(await resolve('localhost', signal)).toEqual(['10.0.0.5'])
  expect(asked).toEqual(['hosts.example', 'localhost'])
})

test('slow names hold one thread at a time, and those whose asker has left none', async () => {
  const slow: (() => void)[] = []
  const asked: string[] = []
  const resolve = createNameResolver({
    askDns: () => fail('ENOTFOUND'),
    askSystem(name) {
      asked.push(name)
      return new Promise((done) => slow.push(() => done(['192.0.2.1'])))
    },
  })
  const gone = new AbortController()
  const first = resolve('first', signal)
  const left = resolve('second', gone.signal)
  const third = resolve('third', signal)
  await Promise.resolve()
  gone.abort(new Error('left'))
  expect(asked).toEqual(['first'])
  slow.shift()?.()
  await first
  await expect(left).rejects.toThrow('left')
  await Promise.resolve()
  slow.shift()?.()
  expect(await third).toEqual(['192.0.2.1'])
  expect(asked).toEqual(['first', 'third'])
})
