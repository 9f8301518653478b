// @vitest-environment node
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_UPLOAD_PIECE_BYTES } from '@mesh/api-contract'
import { onTestFinished, expect, test } from 'vitest'
import { uploadCommands } from './commands.ts'

/** Stands for curl: notes its address, and how many bytes it got. */
const FAKE_CURL = '#!/bin/sh\necho "$4 $(wc -c)" >> calls\n'

test.each([
  [0, ['from=0&of=0 0']],
  [5, ['from=0&of=5 5']],
  [MAX_UPLOAD_PIECE_BYTES, ['from=0&of=1048576 1048576']],
  [MAX_UPLOAD_PIECE_BYTES + 7, ['from=0&of=1048583 1048576', 'from=1048576&of=1048583 7']],
])('the curl of a file of %d bytes sends its pieces, and ends', (size, pieces) => {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-upload-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const name = "it's $HOME.txt"
  writeFileSync(join(folder, name), Buffer.alloc(size))
  writeFileSync(join(folder, 'curl'), FAKE_CURL)
  chmodSync(join(folder, 'curl'), 0o755)
  const { curl } = uploadCommands('http://127.0.0.1:8080', name)
  execFileSync('sh', ['-c', curl], {
    cwd: folder,
    env: { PATH: `${folder}:${process.env['PATH']}` },
    timeout: 10_000,
  })
  const address = `http://127.0.0.1:8080/api/node/files/${encodeURIComponent(name)}/content?`
  const calls = readFileSync(join(folder, 'calls'), 'utf8').trim().split('\n')
  expect(calls.map((call) => call.replace(/ +/g, ' '))).toEqual(pieces.map((piece) => address + piece))
})

test('the command of mesh offers the file by its path', () => {
  expect(uploadCommands('', 'photo.jpg').mesh).toBe('mesh file-send photo.jpg ./photo.jpg')
})
