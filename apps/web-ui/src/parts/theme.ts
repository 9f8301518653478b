import { createChoice } from './choice.ts'

/** `system` follows the machine. */
export const theme = createChoice({ name: 'theme', values: ['system', 'light', 'dark'], usual: 'system' })

/** How high the rows of lists are. */
export const density = createChoice({
  name: 'density',
  values: ['comfortable', 'compact'],
  usual: 'comfortable',
})
