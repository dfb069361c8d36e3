/** The API as the user: every request carries their token, and nothing else is known here. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

export class Api {
  #token
  #onConnection
  #onRefused
  #known = false

  /** `onConnection(lost)`: nobody answered, or somebody does again. `onRefused()`: a token that was good is not any more. */
  constructor(token, { onConnection, onRefused }) {
    this.#token = token
    this.#onConnection = onConnection
    this.#onRefused = onRefused
  }

  async #fetch(path, accept, options = {}) {
    let response
    try {
      response = await fetch(path, {
        ...options,
        headers: { ...options.headers, authorization: `Bearer ${this.#token}`, accept },
        cache: 'no-store',
        credentials: 'omit',
      })
    } catch (error) {
      if (error.name !== 'AbortError' && this.#known) this.#onConnection(true)
      throw error
    }
    if (this.#known) this.#onConnection(false)
    if (response.ok) return response
    if (response.status === 401 && this.#known) this.#onRefused()
    const text = await response.text()
    let message = text
    if (text.startsWith('{')) message = JSON.parse(text).message ?? text
    throw new ApiError(response.status, message || `status ${response.status}`)
  }

  async whoAmI() {
    const body = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' })
    const options = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const response = await this.#fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', 'application/json', options)
    this.#known = true
    return response.json()
  }

  async json(path, accept = 'application/json') {
    return (await this.#fetch(path, accept)).json()
  }

  async text(path, accept = '*/*') {
    return (await this.#fetch(path, accept)).text()
  }

  /** Calls back for each event until the signal aborts or the server ends it. */
  async watch(path, accept, { onOpen, onEvent, signal }) {
    const response = await this.#fetch(path, accept, { signal })
    onOpen()
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    let rest = ''
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      const lines = (rest + value).split('\n')
      rest = lines.pop()
      for (const line of lines) if (line.trim() !== '') onEvent(JSON.parse(line))
    }
  }
}
