/**
 * Has V8 compile with a file what runs when the file is loaded. V8 compiles a function when it is first called and, for Node's cache of compiled code, only what it compiled with the
 * file: the bodies of CommonJS modules, which the bundle holds as functions, would be compiled anew at every start. A
 * function in parentheses is compiled with the file. So those that the top level of a file hands to a call, which are
 * the ones that run when it is loaded, get parentheses. README.md says what that brings.
 */
import type { Options } from 'tsup'
import { parseAst } from 'vite'

type Plugin = NonNullable<Options['plugins']>[number]

export const eagerFunctions: Plugin = {
  name: 'eager-functions',
  renderChunk: (code, { path }) => (path.endsWith('.js') ? { code: parenthesize(code) } : undefined),
}

function parenthesize(code: string): string {
  const places = parseAst(code)
    .body.flatMap((statement) => (statement.type === 'VariableDeclaration' ? statement.declarations : []))
    .flatMap(({ init }) => (init?.type === 'CallExpression' ? init.arguments : []))
    .filter(({ type }) => type === 'ArrowFunctionExpression' || type === 'FunctionExpression')
  let at = 0
  let result = ''
  for (const { start, end } of places) {
    result += `${code.slice(at, start)}(${code.slice(start, end)})`
    at = end
  }
  return result + code.slice(at)
}
