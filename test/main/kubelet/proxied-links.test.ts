import t from 'tap'
import { PageLinks, proxiedLink } from '#keelson/main/kubelet/proxied-links.js'

const scope = { prefix: '/proxy', hosts: ['10.0.0.1:80', 'api:6443'], ownHost: 'api:6443' }

t.test('links to the proxied server lead through the proxy, others where they led', async (t) => {
  const links: [string, string][] = [
    ['/a?b#c', '/proxy/a?b#c'],
    ['/', '/proxy/'],
    ['/proxy/a', '/proxy/a'],
    ['a/b', 'a/b'],
    ['', ''],
    ['#top', '#top'],
    ['?q=/x', '?q=/x'],
    ['mailto:a@b', 'mailto:a@b'],
    ['http://10.0.0.1:80/a', '/proxy/a'],
    ['//10.0.0.1:80/a', '/proxy/a'],
    ['http://api:6443/a', 'http://api:6443/proxy/a'],
    ['http://other/a', 'http://other/a'],
    ['//other/a', '//other/a'],
  ]
  for (const [link, expected] of links) t.equal(proxiedLink(link, scope), expected, link)
})

const PAGE = `<!DOCTYPE html><html><head><link rel=x href=/style.css><script src='/a.js'>if (1 < 2) "<a href='/in-script'>"</script>
<style>a > b { background: url(/in-style) }</style><title><a href="/in-title"></title></head>
<!-- <a href="/in-comment"> --><body BACKGROUND="/b.png">1 < 2 <A title="a > b" HREF = "/up">é</A><img src="/i.png"/>
<form action="/send" data-action="/kept"><p title="/kept">text</p></form><a href="rel">r</a></body></html> <`
const REWRITTEN = PAGE.replaceAll('/style.css', '/proxy/style.css')
  .replace("'/a.js'", "'/proxy/a.js'")
  .replace('/b.png', '/proxy/b.png')
  .replace('/up', '/proxy/up')
  .replace('/i.png', '/proxy/i.png')
  .replace('/send', '/proxy/send')

t.test('pages are rewritten wherever their bytes are cut', async (t) => {
  const through = (pieces: readonly string[]): string => {
    const links = new PageLinks((link) => proxiedLink(link, scope))
    return pieces.map((piece) => links.push(piece)).join('') + links.end()
  }
  t.equal(through([PAGE]), REWRITTEN)
  t.equal(through([...PAGE]), REWRITTEN)
  for (let at = 1; at < PAGE.length; at++)
    if (through([PAGE.slice(0, at), PAGE.slice(at)]) !== REWRITTEN) t.fail(`cut at ${at}`)
  const endless = `<a ${'x'.repeat(100_000)}`
  t.equal(through([endless, endless]), endless + endless, 'what never ends is passed on')
})
