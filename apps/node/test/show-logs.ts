/** Prints the logs of the nodes of a test that failed. Vitest loads this file before each file of system tests. */
import { afterEach } from 'vitest'
import { takeLogs } from './node-logs.ts'

afterEach(({ task }) => {
  const logs = takeLogs()
  if (task.result?.state === 'fail' && logs !== '') console.log(logs)
})
