/** A browser of everything that is served: rows as kubectl shows them, an object as YAML, events as they happen. */
import { LiveTable } from './live-table.js'
import { cells, element } from './view.js'
import { showYaml } from './yaml-view.js'

const MAX_EVENTS = 200
const $ = (id) => document.getElementById(id)
const routeOf = ({ group, name }) => `${group || 'core'}/${name}`

/** The resources of a group, each in the best version that has it: those of a custom group need not share one. */
function preferredResources({ metadata, versions }) {
  const group = metadata.name ?? ''
  const found = new Map()
  for (const { version, resources } of versions)
    for (const { resource: name, verbs, scope } of resources) {
      if (found.has(name) || !verbs.includes('list')) continue
      const base = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
      const watchable = verbs.includes('watch')
      found.set(name, { base, group, version, name, namespaced: scope === 'Namespaced', watchable })
    }
  return found.values()
}

export class Objects {
  #api
  #resources = []
  #chosen
  #table
  /** What is shown as YAML: { namespace, name, yaml }. */
  #shown

  constructor(api) {
    this.#api = api
    $('find').oninput = () => this.#showKinds()
    $('filter').oninput = () => this.#showRows()
    $('namespace').onchange = () => this.#open(this.#chosen)
    $('more').onclick = () => this.#guard(() => this.#table.page())
    $('managed').onchange = () => showYaml($('yaml'), this.#shown.yaml, $('managed').checked)
    $('copy').onclick = () => this.#copy()
    $('close-object').onclick = () => this.#closeObject()
  }

  /** `route`: group and resource, of the address. */
  async start(route) {
    await this.#guard(async () => {
      const isFirst = this.#resources.length === 0
      // Custom kinds come and go: what is served is asked for each time. What was there stays the same.
      this.#resources = (await this.#discover()).map((found) => this.#known(found) ?? found)
      if (isFirst) await this.#loadNamespaces()
      const wanted = this.#resources.find((resource) => routeOf(resource) === route.join('/'))
      if (wanted !== undefined && (wanted !== this.#chosen || this.#table === undefined)) await this.#open(wanted)
      else this.#showKinds()
    })
  }

  stop() {
    this.#table?.stop()
    this.#table = undefined
  }

  #known({ base, name }) {
    return this.#resources.find((resource) => resource.base === base && resource.name === name)
  }

  async #loadNamespaces() {
    const namespaces = await this.#api.json('/api/v1/namespaces').then(
      (list) => list.items.map((item) => item.metadata.name),
      () => ['default'],
    )
    const option = (value, text) => element('option', { value }, text)
    const kept = $('namespace').value
    $('namespace').replaceChildren(option('', 'all'), ...namespaces.map((name) => option(name, name)))
    if (namespaces.includes(kept)) $('namespace').value = kept
  }

  async #discover() {
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'
    const documents = await Promise.all(['/api', '/apis'].map((path) => this.#api.json(path, accept)))
    const found = []
    for (const { items } of documents) for (const group of items) found.push(...preferredResources(group))
    return found
  }

  #showKinds() {
    const wanted = $('find').value.toLowerCase()
    const groups = new Map()
    for (const resource of this.#resources) {
      if (!`${resource.name}.${resource.group}`.includes(wanted)) continue
      if (!groups.has(resource.group)) groups.set(resource.group, [])
      groups.get(resource.group).push(resource)
    }
    const pieces = [...groups].flatMap(([group, resources]) => [
      element('h3', {}, group || 'core'),
      ...resources.map((resource) => {
        const link = element('a', { href: `#objects/${routeOf(resource)}` }, resource.name)
        if (resource === this.#chosen) link.setAttribute('aria-current', 'true')
        return link
      }),
    ])
    const none = element('p', { className: 'nothing' }, 'No resource is called so.')
    $('kinds').replaceChildren(...(pieces.length > 0 || this.#resources.length === 0 ? pieces : [none]))
    $('kinds').querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' })
  }

  #path({ base, name, namespaced }) {
    const namespace = $('namespace').value
    return namespaced && namespace !== ''
      ? `${base}/namespaces/${encodeURIComponent(namespace)}/${name}`
      : `${base}/${name}`
  }

  async #open(resource) {
    this.stop()
    if (resource !== this.#chosen) $('filter').value = ''
    this.#chosen = resource
    $('kind').textContent = resource.name
    $('kind').title = resource.group === '' ? resource.version : `${resource.group}/${resource.version}`
    $('namespace-label').hidden = !resource.namespaced
    $('filter').hidden = false
    $('stream').hidden = !resource.watchable
    $('nothing').textContent = ''
    this.#state('', false)
    this.#closeObject()
    $('rows').replaceChildren()
    $('events').replaceChildren()
    $('no-events').hidden = false
    this.#showKinds()
    const table = new LiveTable(this.#api, this.#path(resource), {
      onRows: () => this.#showRows(),
      onEvent: (type, metadata) => this.#event(type, metadata),
      onState: (text, live) => this.#state(text, live),
    })
    this.#table = table
    await this.#guard(() => table.start({ follow: resource.watchable }))
  }

  #state(text, live) {
    $('stream-state').textContent = text
    $('stream-state').classList.toggle('live', live)
  }

  #showRows() {
    if (this.#table === undefined) return
    const { columns, rows, next } = this.#table
    const shown = columns.map((column, i) => ({ ...column, i })).filter(({ priority }) => priority === 0)
    const withNamespace = this.#chosen.namespaced && $('namespace').value === ''
    const titles = shown.map(({ name }) => name)
    const wanted = $('filter').value.toLowerCase()
    const kept = rows.filter(({ object }) => object.metadata.name.toLowerCase().includes(wanted))
    cells(
      'rows',
      withNamespace ? ['Namespace', ...titles] : titles,
      kept.map((row) => {
        const { namespace = '', name } = row.object.metadata
        const open = () => this.#guard(() => this.#show(namespace, name))
        const values = shown.map(({ i, format }) =>
          format === 'name'
            ? element('button', { type: 'button', onclick: open }, String(row.cells[i]))
            : (row.cells[i] ?? ''),
        )
        return withNamespace ? [namespace, ...values] : values
      }),
      (tr, i) => {
        const { namespace = '', name } = kept[i].object.metadata
        if (name === this.#shown?.name && namespace === this.#shown.namespace) tr.setAttribute('aria-selected', 'true')
      },
    )
    $('rows').hidden = kept.length === 0
    $('nothing').textContent = kept.length > 0 ? '' : this.#emptiness(rows.length)
    $('more').hidden = next === ''
  }

  #emptiness(known) {
    if (known > 0) return `None of the ${known} that are loaded has such a name.`
    const place = this.#chosen.namespaced && $('namespace').value !== '' ? ` in ${$('namespace').value}` : ''
    return `There are no ${this.#chosen.name}${place}.`
  }

  async #show(namespace, name) {
    const { base, name: resource, namespaced } = this.#chosen
    const folder = namespaced ? `${base}/namespaces/${encodeURIComponent(namespace)}` : base
    const yaml = await this.#api.text(`${folder}/${resource}/${encodeURIComponent(name)}`, 'application/yaml')
    this.#shown = { namespace, name, yaml }
    $('object-name').textContent = namespaced ? `${namespace}/${name}` : name
    $('object-gone').hidden = true
    $('object').hidden = false
    showYaml($('yaml'), yaml, $('managed').checked)
    this.#showRows()
  }

  #closeObject() {
    this.#shown = undefined
    $('object').hidden = true
    this.#showRows()
  }

  async #copy() {
    await navigator.clipboard.writeText($('yaml').textContent)
    $('copy').textContent = 'Copied'
    setTimeout(() => {
      $('copy').textContent = 'Copy'
    }, 1500)
  }

  #event(type, { namespace = '', name }) {
    const where = namespace === '' ? name : `${namespace}/${name}`
    const time = element('time', {}, new Date().toLocaleTimeString('en-GB'))
    $('events').prepend(element('li', {}, time, element('b', { className: type }, type), where))
    while ($('events').childElementCount > MAX_EVENTS) $('events').lastChild.remove()
    $('no-events').hidden = true
    if (this.#shown?.name !== name || this.#shown.namespace !== namespace) return
    if (type === 'DELETED') $('object-gone').hidden = false
    else void this.#guard(() => this.#show(namespace, name))
  }

  async #guard(action) {
    try {
      $('objects-error').textContent = ''
      await action()
    } catch (error) {
      // Without a status nobody answered, which the page says by itself.
      if (error.status !== undefined) $('objects-error').textContent = error.message
    }
  }
}
