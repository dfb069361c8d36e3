/** A browser of everything that is served: rows as kubectl shows them, an object as YAML, events as they happen. */
import { cells, element } from './view.js'

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const PAGE = 250
const MAX_EVENTS = 200
const $ = (id) => document.getElementById(id)

export class Objects {
  #api
  #resources = []
  #chosen
  #table
  #stream

  constructor(api) {
    this.#api = api
    $('find').oninput = () => this.#showKinds()
    $('namespace').onchange = () => this.#open(this.#chosen)
    $('more').onclick = () => this.#guard(() => this.#page())
  }

  async start() {
    if (this.#resources.length > 0) return
    await this.#guard(async () => {
      this.#resources = await this.#discover()
      this.#showKinds()
      const namespaces = await this.#api.json('/api/v1/namespaces').then(
        (list) => list.items.map((item) => item.metadata.name),
        () => ['default'],
      )
      const option = (value, text) => element('option', { value }, text)
      $('namespace').replaceChildren(option('', 'all'), ...namespaces.map((name) => option(name, name)))
    })
  }

  stop() {
    this.#stream?.abort()
    this.#stream = undefined
  }

  async #discover() {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
    const documents = await Promise.all(['/api', '/apis'].map((path) => this.#api.json(path, accept)))
    const found = []
    for (const { items } of documents)
      for (const group of items) {
        const version = group.versions[0]
        const base = group.metadata.name ? `/apis/${group.metadata.name}/${version.version}` : `/api/${version.version}`
        for (const resource of version.resources)
          if (resource.verbs.includes('list'))
            found.push({
              base,
              group: group.metadata.name ?? '',
              name: resource.resource,
              namespaced: resource.scope === 'Namespaced',
              watchable: resource.verbs.includes('watch'),
            })
      }
    return found.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  #showKinds() {
    const wanted = $('find').value.toLowerCase()
    const items = this.#resources
      .filter(({ name, group }) => `${name}.${group}`.includes(wanted))
      .map((resource) => {
        const label = [resource.name, ' ', element('small', {}, resource.group)]
        return element('li', {}, element('button', { type: 'button', onclick: () => this.#open(resource) }, ...label))
      })
    $('kinds').replaceChildren(...items)
  }

  #path({ base, name, namespaced }) {
    const namespace = $('namespace').value
    return namespaced && namespace !== ''
      ? `${base}/namespaces/${encodeURIComponent(namespace)}/${name}`
      : `${base}/${name}`
  }

  async #open(resource) {
    if (resource === undefined) return
    this.stop()
    this.#chosen = resource
    this.#table = { columns: [], rows: [], next: '', revision: '' }
    $('kind').textContent = resource.name
    $('namespace-label').hidden = !resource.namespaced
    for (const id of ['yaml', 'object-name']) $(id).hidden = true
    $('events').replaceChildren()
    await this.#guard(async () => {
      await this.#page()
      if (resource.watchable) this.#follow(resource)
    })
  }

  async #page() {
    const resource = this.#chosen
    const table = this.#table
    const more = table.next === '' ? '' : `&continue=${encodeURIComponent(table.next)}`
    const page = await this.#api.json(`${this.#path(resource)}?limit=${PAGE}&includeObject=Metadata${more}`, TABLE)
    if (this.#table !== table) return
    if (page.columnDefinitions?.length > 0) table.columns = page.columnDefinitions
    table.rows.push(...page.rows)
    table.next = page.metadata.continue ?? ''
    table.revision = page.metadata.resourceVersion
    this.#showRows()
  }

  #showRows() {
    const { columns, rows, next } = this.#table
    const shown = columns.map((column, i) => ({ ...column, i })).filter(({ priority }) => priority === 0)
    const withNamespace = this.#chosen.namespaced && $('namespace').value === ''
    const titles = shown.map(({ name }) => name)
    cells(
      'rows',
      withNamespace ? ['Namespace', ...titles] : titles,
      rows.map((row) => {
        const { namespace = '', name } = row.object.metadata
        const link = (text) =>
          element('button', { type: 'button', onclick: () => this.#guard(() => this.#show(namespace, name)) }, text)
        const values = shown.map(({ i, format }) =>
          format === 'name' ? link(String(row.cells[i])) : (row.cells[i] ?? ''),
        )
        return withNamespace ? [namespace, ...values] : values
      }),
    )
    $('more').hidden = next === ''
  }

  async #show(namespace, name) {
    const { base, name: resource, namespaced } = this.#chosen
    const folder = namespaced ? `${base}/namespaces/${encodeURIComponent(namespace)}` : base
    const yaml = await this.#api.text(`${folder}/${resource}/${encodeURIComponent(name)}`, 'application/yaml')
    $('object-name').textContent = namespaced ? `${namespace}/${name}` : name
    $('yaml').textContent = yaml
    for (const id of ['yaml', 'object-name']) $(id).hidden = false
  }

  #follow(resource) {
    const stream = new AbortController()
    this.#stream = stream
    $('events-title').hidden = false
    const table = this.#table
    const path = `${this.#path(resource)}?watch=true&allowWatchBookmarks=true&includeObject=Metadata&resourceVersion=${table.revision}`
    $('stream-state').textContent = 'live'
    this.#api
      .watch(path, TABLE, (event) => this.#take(event, table), stream.signal)
      .then(
        () => {
          if (!stream.signal.aborted) this.#follow(resource)
        },
        (error) => {
          if (!stream.signal.aborted) $('stream-state').textContent = `not live: ${error.message}`
        },
      )
  }

  #take({ type, object }, table) {
    if (this.#table !== table) return
    const [row] = object.rows ?? []
    table.revision = row?.object.metadata.resourceVersion ?? object.metadata?.resourceVersion ?? table.revision
    if (type === 'ERROR') {
      $('stream-state').textContent = `not live: ${object.message}`
      return
    }
    if (type === 'BOOKMARK' || row === undefined) return
    const { namespace = '', name } = row.object.metadata
    const at = table.rows.findIndex(
      ({ object: { metadata } }) => metadata.name === name && (metadata.namespace ?? '') === namespace,
    )
    if (type === 'DELETED' && at >= 0) table.rows.splice(at, 1)
    else if (type !== 'DELETED' && at >= 0) table.rows[at] = row
    else if (type !== 'DELETED') table.rows.push(row)
    this.#showRows()
    const time = new Date().toLocaleTimeString()
    const line = `${time} ${type} ${namespace === '' ? '' : `${namespace}/`}${name}`
    $('events').prepend(element('li', {}, line))
    while ($('events').childElementCount > MAX_EVENTS) $('events').lastChild.remove()
  }

  async #guard(action) {
    try {
      $('objects-error').textContent = ''
      await action()
    } catch (error) {
      $('objects-error').textContent = error.message
    }
  }
}
