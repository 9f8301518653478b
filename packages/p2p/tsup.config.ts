import { packageBuild } from '../../tsup.base.ts'

export default packageBuild({ entry: ['src/index.ts', 'src/browser.ts', 'src/node.ts', 'src/testing.ts'] })
