import { existsSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import t from 'tap'
import { KeelsonProcess } from '../support/keelson-process.js'
import { until } from '../support/until.js'

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((file) => existsSync(file))
/** Where pictures for the documentation go; without it none are taken. */
const PICTURES = process.env['KEELSON_PICTURES']

const folder = mkdtempSync(path.join(tmpdir(), 'keelson-ui-'))
const tokens = path.join(folder, 'tokens.csv')
writeFileSync(tokens, 'secret-admin-token,admin,admin-uid,"system:masters"\nplain-token,paul,paul-uid,\n')

const configMap = (name: string, greeting = '<b>not markup</b>'): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { greeting },
})
const shows = (page: Page, selector: string, text: string): Promise<void> =>
  page.locator(selector).filter({ hasText: text }).first().waitFor()
const ADMIN = { authorization: 'Bearer secret-admin-token' }

t.test('the page', { skip: CHROMIUM === undefined ? 'there is no Chromium' : false }, async (t) => {
  const server = await KeelsonProcess.start([`--token-auth-file=${tokens}`])
  t.teardown(() => server.close())
  const browser: Browser = await chromium.launch({
    executablePath: CHROMIUM!,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  t.teardown(() => browser.close())
  const problems: string[] = []

  const open = async (): Promise<Page> => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ignoreHTTPSErrors: true })
    const page = await context.newPage()
    page.on('pageerror', (error) => problems.push(error.message))
    await page.goto(`${server.url}/ui`)
    return page
  }
  const enter = async (page: Page, token: string): Promise<void> => {
    await page.fill('#token', token)
    await page.click('#login button')
  }

  /** So that a picture has something to show. */
  const traffic = async (ms: number): Promise<void> => {
    const end = Date.now() + ms
    await server.request('POST', '/api/v1/namespaces/default/configmaps', configMap('busy'), ADMIN)
    for (let i = 0; Date.now() < end; i++) {
      const path = ['/api/v1/namespaces', '/apis/apps/v1/deployments', '/api/v1/namespaces/default'][i % 3]!
      await server.request('GET', path, undefined, ADMIN)
      if (i % 7 === 0)
        await server.request('PUT', '/api/v1/namespaces/default/configmaps/busy', configMap('busy', `${i}`), ADMIN)
      await new Promise((resolve) => setTimeout(resolve, 15 + 40 * Math.abs(Math.sin(i / 150))))
    }
  }

  await t.test('holds nothing before a token is given, and takes no wrong one', async (t) => {
    const page = await open()
    t.equal(await page.isVisible('#overview'), false)
    t.equal(await page.isVisible('#objects'), false)
    await enter(page, 'wrong')
    await shows(page, '#login-error', 'does not know')
    t.equal(await page.textContent('#login-error'), 'The server does not know this token.')
    t.equal(await page.isVisible('#overview'), false)
    const answer = await server.request('GET', '/ui')
    t.match(answer.headers.get('content-security-policy') ?? '', "default-src 'none'")
    t.equal((await server.request('GET', '/ui/../main/index.js')).status >= 400, true)
    t.equal((await server.request('GET', '/metrics')).status >= 400, true, 'what it shows is not for everybody')
  })

  await t.test('shows who may not see the figures why', async () => {
    const page = await open()
    await enter(page, 'plain-token')
    await shows(page, '#metrics-error', 'may not read')
  })

  await t.test('shows live figures', async (t) => {
    const page = await open()
    await enter(page, 'secret-admin-token')
    await page.locator('#tiles .tile').nth(5).waitFor()
    t.equal(await page.textContent('#user'), 'admin')
    await page.locator('#verbs tbody tr').first().waitFor()
    await shows(page, '#rate-chart', '/s')
    await shows(page, '#latency-chart', 'p99')
    await shows(page, '#threads', 'owner')
    const resources = await page.textContent('#resources')
    t.match(resources, /namespaces4/)
    t.match(resources, /clusterroles\.rbac\.authorization\.k8s\.io/)
    t.notMatch(resources, /cronjobs/)
    await page.click('#empty-resources')
    await shows(page, '#resources', 'cronjobs.batch')
    await page.click('#empty-resources')
    if (PICTURES !== undefined) {
      await page.evaluate('scrollTo(0, 0)')
      await traffic(60_000)
      await page.screenshot({ path: path.join(PICTURES, 'ui-overview.png') })
      await server.request('DELETE', '/api/v1/namespaces/default/configmaps/busy', undefined, ADMIN)
    }
    await page.click('#resources a:text-is("namespaces")')
    await shows(page, '#rows', 'kube-node-lease')
  })

  await t.test('browses objects, shows YAML as text and events as they happen', async (t) => {
    const page = await open()
    await enter(page, 'secret-admin-token')
    await page.click('nav a[href="#objects"]')
    await page.fill('#find', 'no such thing')
    await shows(page, '#kinds', 'No resource')
    await page.fill('#find', 'configmaps')
    await page.click('#kinds a')
    await shows(page, '#stream-state', 'live')
    await page.selectOption('#namespace', 'default')
    await shows(page, '#nothing', 'There are no configmaps in default.')
    await page.selectOption('#namespace', '')
    await shows(page, '#stream-state', 'live')
    await server.request('POST', '/api/v1/namespaces/default/configmaps', configMap('made-later'), ADMIN)
    await shows(page, '#events', 'default/made-later')
    await page.click('#rows button:text-is("made-later")')
    await page.waitForSelector('#yaml:visible')
    const yaml = (await page.textContent('#yaml')) ?? ''
    t.match(yaml, 'greeting: <b>not markup</b>')
    t.equal(await page.locator('#yaml b').count(), 0)
    t.notMatch(yaml, 'managedFields')
    await page.check('#managed')
    t.match(await page.textContent('#yaml'), 'fieldsType: FieldsV1')
    await page.uncheck('#managed')
    await server.request(
      'PUT',
      '/api/v1/namespaces/default/configmaps/made-later',
      configMap('made-later', 'new'),
      ADMIN,
    )
    await shows(page, '#yaml', 'greeting: new')
    if (PICTURES !== undefined) await page.screenshot({ path: path.join(PICTURES, 'ui-objects.png') })
    await server.request('DELETE', '/api/v1/namespaces/default/configmaps/made-later', undefined, ADMIN)
    await shows(page, '#events', 'DELETED')
    await page.locator('#rows').filter({ hasNotText: 'made-later' }).waitFor({ state: 'attached' })
    await page.waitForSelector('#object-gone:visible')
  })

  await t.test('shows custom kinds with their columns, also those that came after the page', async () => {
    const page = await open()
    await enter(page, 'secret-admin-token')
    await page.click('nav a[href="#objects"]')
    await page.click('nav a[href="#overview"]')
    const definition = (plural: string, kind: string, version: string): object => ({
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.example.com` },
      spec: {
        group: 'example.com',
        scope: 'Cluster',
        names: { plural, kind },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
            additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.color' }],
          },
        ],
      },
    })
    const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await server.request('POST', definitions, definition('widgets', 'Widget', 'v1'), ADMIN)
    await server.request('POST', definitions, definition('gadgets', 'Gadget', 'v1alpha1'), ADMIN)
    const gadgets = '/apis/example.com/v1alpha1/gadgets'
    const gadget = { apiVersion: 'example.com/v1alpha1', kind: 'Gadget', metadata: { name: 'one' }, color: 'crimson' }
    await until(async () => (await server.request('POST', gadgets, gadget, ADMIN)).status === 201, {
      what: 'the definition to be served',
    })
    await page.click('nav a[href="#objects"]')
    await page.fill('#find', 'gadgets')
    await page.click('#kinds a')
    await shows(page, '#rows', 'Color')
    await shows(page, '#rows', 'crimson')
  })

  await t.test('is found again by its address, and fits a narrow window', async (t) => {
    const page = await open()
    await enter(page, 'secret-admin-token')
    await page.waitForSelector('#overview:visible')
    await page.setViewportSize({ width: 400, height: 800 })
    await page.goto(`${server.url}/ui#objects/rbac.authorization.k8s.io/clusterroles`)
    await shows(page, '#rows', 'cluster-admin')
    await page.fill('#filter', 'cluster-adm')
    t.equal(await page.locator('#rows tbody tr').count(), 1)
    t.equal(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true)
  })

  await t.test('says that the server is gone, and goes on when it is back', async (t) => {
    const page = await open()
    await enter(page, 'secret-admin-token')
    await page.locator('#verbs tbody tr').first().waitFor()
    await page.context().setOffline(true)
    await page.waitForSelector('#lost:visible')
    await page.context().setOffline(false)
    await page.waitForSelector('#lost', { state: 'hidden' })
    t.equal(await page.isVisible('#figures'), true)
  })

  t.same(problems, [], 'nothing went wrong in the page')
})
