import type { Run } from './command.ts'

export const runApi: Run = async () => 1
export const runStart: Run = async () => 1
