/** A process of the rig that is killed, stopped and started again, with what it said kept in a file. */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { leftovers } from './leftovers.js'

export interface ProcessOptions {
  readonly command: string
  readonly args: readonly string[]
  readonly logFile: string
  readonly env?: Readonly<Record<string, string>>
}

export class ManagedProcess {
  #options: ProcessOptions
  #child: ChildProcess | undefined
  /** How it ended by itself, which nothing in a run may make it do. */
  unexpected: string | undefined
  #isEnding = false
  /** Until it is started again: what is done to it may make it end. */
  mayEnd = false

  constructor(options: ProcessOptions) {
    this.#options = options
  }

  get isRunning(): boolean {
    return this.#child !== undefined && this.#child.exitCode === null && this.#child.signalCode === null
  }

  /** Undefined while it does not run. */
  get pid(): number | undefined {
    return this.isRunning ? this.#child?.pid : undefined
  }

  change(options: Partial<ProcessOptions>): void {
    this.#options = { ...this.#options, ...options }
  }

  start(): void {
    if (this.isRunning) return
    const { command, args, logFile, env = {} } = this.#options
    const log = openSync(logFile, 'a')
    this.#isEnding = false
    this.mayEnd = false
    const child = spawn(command, args, { stdio: ['ignore', log, log], env: { ...process.env, ...env } })
    closeSync(log)
    const ended = leftovers.add(() => void child.kill('SIGKILL'))
    child.once('close', ended)
    child.once('error', (error) => {
      this.unexpected = `${command}: ${error.message}`
    })
    child.on('exit', (code, signal) => {
      if (!this.#isEnding && !this.mayEnd && this.#child === child)
        this.unexpected = `${command} ended: ${code ?? signal}`
    })
    this.#child = child
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child
    if (child === undefined || !this.isRunning) return
    this.#isEnding = true
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGCONT')
    child.kill(signal)
    await ended
  }

  pause(): void {
    if (this.isRunning) this.#child?.kill('SIGSTOP')
  }

  resume(): void {
    if (this.isRunning) this.#child?.kill('SIGCONT')
  }
}
