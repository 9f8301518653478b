/**
 * Imported first: tells zod not to probe for `new Function`, which a strict CSP forbids and reports as a violation.
 * zod reads this global when its module is evaluated.
 */
const global = globalThis as { __zod_globalConfig?: { jitless?: boolean } }
global.__zod_globalConfig = { ...global.__zod_globalConfig, jitless: true }
