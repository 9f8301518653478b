import { expect, test } from 'vitest'
import { createNameResolver } from './resolve-name.ts'

const asker = { asker: '192.0.2.7', signal: new AbortController().signal }
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
  expect(await resolve('both.example', asker)).toEqual(['192.0.2.1', '2001:db8::1'])
  expect(await resolve('v6.example', asker)).toEqual(['2001:db8::1'])
  await expect(resolve('broken.example', asker)).rejects.toThrow('ESERVFAIL')
  expect(await resolve('hosts.example', asker)).toEqual(['10.0.0.5'])
  expect(await resolve('localhost', asker)).toEqual(['10.0.0.5'])
  expect(asked).toEqual(['hosts.example', 'localhost'])
})
