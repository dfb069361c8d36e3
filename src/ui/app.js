/** The page: who you are, then two views. The token is kept for this tab only. */
import { Api } from './api.js'
import { Objects } from './objects.js'
import { Overview } from './overview.js'

const TOKEN = 'keelson-token'
const $ = (id) => document.getElementById(id)

async function enter(token) {
  const api = new Api(token)
  const review = await api.post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'SelfSubjectReview',
  })
  sessionStorage.setItem(TOKEN, token)
  $('user').textContent = review.status.userInfo.username
  $('login').hidden = true
  for (const id of ['tabs', 'who']) $(id).hidden = false
  const views = { overview: new Overview(api), objects: new Objects(api) }
  const show = () => {
    const wanted = location.hash === '#objects' ? 'objects' : 'overview'
    for (const [name, view] of Object.entries(views)) {
      $(name).hidden = name !== wanted
      if (name === wanted) view.start()
      else view.stop()
    }
    for (const link of document.querySelectorAll('nav a'))
      if (link.hash === `#${wanted}`) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
  }
  window.addEventListener('hashchange', show)
  show()
}

async function tryToken(token) {
  try {
    $('login-error').textContent = ''
    await enter(token)
  } catch (error) {
    sessionStorage.removeItem(TOKEN)
    $('login-error').textContent =
      error.status === 401 ? 'The server does not know this token.' : `The server says: ${error.message}`
  }
}

$('login').onsubmit = (event) => {
  event.preventDefault()
  void tryToken($('token').value.trim())
}
$('leave').onclick = () => {
  sessionStorage.removeItem(TOKEN)
  location.reload()
}
const known = sessionStorage.getItem(TOKEN)
if (known !== null) void tryToken(known)
