/** All keys, for people. */
export const SHORTCUTS: readonly (readonly [keys: string, does: string])[] = [
  ['g o', 'go to the overview'],
  ['g m', 'go to machines'],
  ['g n', 'go to names'],
  ['g s', 'go to services'],
  ['g f', 'go to files'],
  ['g l', 'go to the ledger'],
  ['g a', 'go to access'],
  ['/', 'search'],
  ['j k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['Esc', 'close the panel'],
  ['+ - 0', 'zoom the map, show all of it'],
  ['t', 'change the theme'],
  ['?', 'show these keys'],
]
