/**
 * A list as a Table that follows what happens: pages, then a watch. When the watch ends or breaks it is taken up again
 * where it was; when that is too long ago, or the server was away, everything is listed anew.
 */
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const PAGE = 250
const RETRY_MS = 2000

export class LiveTable {
  columns = []
  rows = []
  /** The token of the next page, '' when there is none. */
  next = ''
  #api
  #path
  #on
  #revision = ''
  #stream = new AbortController()

  constructor(api, path, on) {
    this.#api = api
    this.#path = path
    this.#on = on
  }

  async start({ follow }) {
    await this.page()
    if (follow) void this.#follow()
  }

  stop() {
    this.#stream.abort()
  }

  async page() {
    const more = this.next === '' ? '' : `&continue=${encodeURIComponent(this.next)}`
    const page = await this.#api.json(`${this.#path}?limit=${PAGE}&includeObject=Metadata${more}`, TABLE)
    if (this.#stream.signal.aborted) return
    if (page.columnDefinitions?.length > 0) this.columns = page.columnDefinitions
    this.rows.push(...page.rows)
    this.next = page.metadata.continue ?? ''
    if (more === '') this.#revision = page.metadata.resourceVersion
    this.#on.onRows()
  }

  async #follow() {
    const { signal } = this.#stream
    while (!signal.aborted) {
      try {
        await this.#watch(signal)
      } catch (error) {
        if (signal.aborted) return
        if (error.status === 403) {
          this.#on.onState('not live: you may not watch', false)
          return
        }
        this.#on.onState('not live, trying again', false)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
        if (!signal.aborted) await this.#again()
      }
    }
  }

  #watch(signal) {
    const query = `watch=true&allowWatchBookmarks=true&includeObject=Metadata&resourceVersion=${this.#revision}`
    return this.#api.watch(`${this.#path}?${query}`, TABLE, {
      signal,
      onOpen: () => this.#on.onState('live', true),
      onEvent: (event) => {
        if (!signal.aborted) this.#take(event)
      },
    })
  }

  /** Nobody may answer yet: then the watch fails too, and it is tried again. */
  async #again() {
    const rows = this.rows
    this.rows = []
    this.next = ''
    try {
      await this.page()
    } catch {
      this.rows = rows
    }
  }

  #take({ type, object }) {
    if (type === 'ERROR') throw new Error(object.message)
    const [row] = object.rows ?? []
    this.#revision = row?.object.metadata.resourceVersion ?? object.metadata?.resourceVersion ?? this.#revision
    if (type === 'BOOKMARK' || row === undefined) return
    const { namespace = '', name } = row.object.metadata
    const at = this.rows.findIndex(
      ({ object: { metadata } }) => metadata.name === name && (metadata.namespace ?? '') === namespace,
    )
    if (type === 'DELETED' && at >= 0) this.rows.splice(at, 1)
    else if (type !== 'DELETED' && at >= 0) this.rows[at] = row
    else if (type !== 'DELETED') this.rows.push(row)
    this.#on.onRows()
    this.#on.onEvent(type, row.object.metadata)
  }
}
