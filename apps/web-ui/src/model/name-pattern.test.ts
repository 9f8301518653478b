import { expect, test } from 'vitest'
import { patternOfName } from './name-pattern.ts'

test('a plain name becomes the pattern that fits it alone', () => {
  for (const typed of ['git.lab', 'git.lab.']) {
    const pattern = patternOfName(typed) ?? ''
    expect(pattern).toBe('^git\\.lab\\.$')
    expect(
      ['git.lab.', 'gitxlab.', 'my-git.lab.', 'git.lab.de.'].filter((name) => name.match(pattern)),
    ).toEqual(['git.lab.'])
  }
})

test('a pattern stays as it was typed', () => {
  for (const typed of ['^git\\.lab\\.$', '.*', '(git.lab)', '', '.lab', 'git..lab'])
    expect(patternOfName(typed)).toBeUndefined()
})
