import { MeshError } from '@mesh/core'
import { expect, test } from 'vitest'
import { formatError } from './print-error.ts'
import { calledAs, replaceCommand } from './called-as.ts'

test.each([
  [{}, 'mesh'],
  [{ MESH_COMMAND: '' }, 'mesh'],
  [{ MESH_COMMAND: './mesh' }, './mesh'],
  [{ MESH_COMMAND: "/my dir/it's/mesh" }, `'/my dir/it'\\''s/mesh'`],
  [{ npm_lifecycle_event: 'start' }, './mesh'],
])('in %j it is called as %s', (environment, command) => {
  expect(calledAs(environment)).toBe(command)
})

test('only what begins a command is put into the words of the person', () => {
  const text =
    'a mesh of nodes: `mesh`, `mesh api`, sudo mesh x, Usage: mesh ping; meshes, `meshed`, mesh.token'
  expect(replaceCommand(text, './mesh')).toBe(
    'a mesh of nodes: `./mesh`, `./mesh api`, sudo ./mesh x, Usage: ./mesh ping; meshes, `meshed`, mesh.token',
  )
  expect(replaceCommand('`mesh api`', '$&')).toBe('`$& api`')
})

test('errors tell people to type what works where they stand', () => {
  const error = new MeshError('node.not_running', 'no node is running here', { hint: 'Start `mesh api`.' })
  expect(formatError(error, { debug: false, command: './mesh' })).toBe(
    'mesh: no node is running here [node.not_running]\n  Start `./mesh api`.',
  )
})
