#!/usr/bin/env node
/** Thread: main. The process's entry: alone reads argv and env, alone exits. */
console.error('keelson: the server is not built yet')
process.exitCode = 1
