/** The page: who you are, then two views. The token is kept for this tab only. */
import { Api } from './api.js'
import { Objects } from './objects.js'
import { Overview } from './overview.js'

const TOKEN = 'keelson-token'
const EXPIRED = 'The server does not know your token any more. Sign in with another one.'
const $ = (id) => document.getElementById(id)

/** Beneath the header while the server does not answer; every view finds out for itself and tries again. */
function connection(lost) {
  $('lost').hidden = !lost
  if (lost)
    $('lost').textContent = 'The server does not answer. What you see is old; it is asked again every few seconds.'
}

function leave(reason) {
  sessionStorage.removeItem(TOKEN)
  if (reason !== undefined) sessionStorage.setItem(`${TOKEN}-refused`, reason)
  location.reload()
}

async function enter(token) {
  const api = new Api(token, { onConnection: connection, onRefused: () => leave(EXPIRED) })
  const review = await api.whoAmI()
  sessionStorage.setItem(TOKEN, token)
  $('user').textContent = review.status.userInfo.username
  $('user').title = (review.status.userInfo.groups ?? []).join('\n')
  $('login').hidden = true
  for (const id of ['tabs', 'who']) $(id).hidden = false
  api.json('/version').then(
    ({ gitVersion }) => {
      $('server').textContent = `${location.host} · ${gitVersion}`
    },
    () => {
      $('server').textContent = location.host
    },
  )
  const views = { overview: new Overview(api), objects: new Objects(api) }
  const show = () => {
    const [wanted, ...rest] = location.hash.slice(1).split('/')
    const shown = wanted === 'objects' ? 'objects' : 'overview'
    for (const [name, view] of Object.entries(views)) {
      $(name).hidden = name !== shown
      if (name !== shown) view.stop()
    }
    views[shown].start(rest)
    document.title = `Keelson: ${[shown, ...rest.slice(-1)].join(', ')}`
    for (const link of document.querySelectorAll('nav a'))
      if (link.hash === `#${shown}`) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
  }
  window.addEventListener('hashchange', show)
  show()
}

async function tryToken(token) {
  const button = $('login').querySelector('button')
  try {
    $('login-error').textContent = ''
    button.disabled = true
    await enter(token)
  } catch (error) {
    if (error.status === 401) sessionStorage.removeItem(TOKEN)
    $('login-error').textContent =
      error.status === 401
        ? 'The server does not know this token.'
        : error.status === undefined
          ? 'The server does not answer.'
          : `The server says: ${error.message}`
  } finally {
    button.disabled = false
  }
}

$('login').onsubmit = (event) => {
  event.preventDefault()
  void tryToken($('token').value.trim())
}
$('leave').onclick = () => leave()
const refused = sessionStorage.getItem(`${TOKEN}-refused`)
if (refused !== null) {
  sessionStorage.removeItem(`${TOKEN}-refused`)
  $('login-error').textContent = refused
}
const known = sessionStorage.getItem(TOKEN)
if (known !== null) void tryToken(known)
