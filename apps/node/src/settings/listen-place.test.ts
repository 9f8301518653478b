import { silentLogger } from '@mesh/core'
import { expect, test, vi } from 'vitest'
import { findListenPlace, type ListenPlaceInit } from './listen-place.ts'

const place = (over: Partial<ListenPlaceInit>, log = silentLogger) =>
  findListenPlace({ listen: '127.0.0.1:8080', base: '/srv', environment: {}, pid: 7, ...over }, log)

test('a socket path counts from where the person stands', () => {
  expect(place({ listen: 'unix://api.sock' })).toEqual({
    kind: 'unix',
    path: '/srv/api.sock',
    mode: 0o660,
  })
  expect(place({ listen: 'unix:///run/api.sock' })).toMatchObject({ path: '/run/api.sock' })
})

test.each([
  ['600', 0o600],
  ['0640', 0o640],
  ['', 0o660],
])('APILISTENUNIXMODE %j is octal', (text, mode) => {
  expect(place({ listen: 'unix:///s', environment: { APILISTENUNIXMODE: text } })).toMatchObject({ mode })
})

test.each(['rw', '0999', '66', '066000', '0o660'])('APILISTENUNIXMODE %j is 0660, with a warning', (text) => {
  const warn = vi.fn<() => void>()
  const environment = { APILISTENUNIXMODE: text }
  expect(place({ listen: 'unix:///s', environment }, { ...silentLogger, warn })).toMatchObject({
    mode: 0o660,
  })
  expect(warn).toHaveBeenCalledOnce()
})

test('a socket that the init system hands to this process replaces --listen', () => {
  expect(place({ environment: { LISTEN_PID: '7', LISTEN_FDS: '1' } })).toEqual({
    kind: 'inherited',
    descriptor: 3,
  })
  expect(place({ environment: { LISTEN_PID: '8', LISTEN_FDS: '1' } })).toMatchObject({ kind: 'tcp' })
})

test.each(['0', '2', '', undefined])('LISTEN_FDS %j for this process is an error', (count) => {
  expect(() => place({ environment: { LISTEN_PID: '7', LISTEN_FDS: count } })).toThrow('not 1')
})
