/** The API as the user: every request carries their token, and nothing else is known here. */
export class ApiError extends Error {
  constructor(status, message) {
    super(message)
    this.status = status
  }
}

export class Api {
  #token

  constructor(token) {
    this.#token = token
  }

  async #fetch(path, accept, options = {}) {
    const response = await fetch(path, {
      ...options,
      headers: { ...options.headers, authorization: `Bearer ${this.#token}`, accept },
      cache: 'no-store',
      credentials: 'omit',
    })
    if (response.ok) return response
    const text = await response.text()
    let message = text
    if (text.startsWith('{')) message = JSON.parse(text).message ?? text
    throw new ApiError(response.status, message || `status ${response.status}`)
  }

  async json(path, accept = 'application/json') {
    return (await this.#fetch(path, accept)).json()
  }

  async text(path, accept = '*/*') {
    return (await this.#fetch(path, accept)).text()
  }

  async post(path, body) {
    const options = { method: 'POST', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
    return (await this.#fetch(path, 'application/json', options)).json()
  }

  /** Calls back for each event until the signal aborts or the server ends it. */
  async watch(path, accept, onEvent, signal) {
    const response = await this.#fetch(path, accept, { signal })
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
