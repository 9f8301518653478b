import { packageBuild } from '../../tsup.base.ts'

export default packageBuild({
  entry: ['src/index.ts', 'src/node.ts', 'src/rules/index.ts', 'src/policy-text.ts'],
})
