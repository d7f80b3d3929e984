// Opens pages in headless Chromium and says what is wrong with them; called by .ci/browser.
const { execFileSync } = require('node:child_process');
const { readFileSync } = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const puppeteer = require('puppeteer-core');

const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const views = [
  { name: 'light', scheme: 'light', width: 1200 },
  { name: 'dark', scheme: 'dark', width: 1200 },
  { name: 'phone', scheme: 'light', width: 390 },
];

function chromium() {
  const names = [process.env.CHROMIUM, 'chromium', 'chromium-browser', 'google-chrome'].filter(Boolean);
  for (const name of names) {
    try {
      return execFileSync('which', [name]).toString().trim();
    } catch {}
  }
  throw new Error(`none of ${names.join(', ')} is installed; set CHROMIUM to its path`);
}

/** What is wrong with a page in one view, in words. */
async function faults(browser, file, view) {
  const found = [];
  const page = await browser.newPage();
  const url = pathToFileURL(path.resolve(file)).href;
  page.on('request', (request) => {
    if (request.url() !== url && !request.url().startsWith('data:')) found.push(`asks for ${request.url()}`);
  });
  page.on('pageerror', (error) => found.push(`script error: ${error.message}`));
  await page.setViewport({ width: view.width, height: 900 });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: view.scheme }]);
  await page.goto(url, { waitUntil: 'load' });
  await page.screenshot({ path: file.replace(/\.html$/, `-${view.name}.png`), fullPage: true });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
  if (wide > 0) found.push(`${wide} pixels wider than the window`);
  await page.evaluate(() => document.querySelectorAll('details').forEach((details) => (details.open = true)));
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run());
  for (const { id, help, nodes } of violations) found.push(`${id}: ${help}: ${nodes.map((n) => n.target).join(' ')}`);
  await page.close();
  return found;
}

async function main(files) {
  const args = ['--no-sandbox', '--disable-dev-shm-usage'];
  const browser = await puppeteer.launch({ executablePath: chromium(), args }).catch((error) => {
    console.log(`not checked: Chromium could not be started: ${error.message}`);
    process.exit(3);
  });
  let count = 0;
  for (const file of files) {
    for (const view of views) {
      const found = await faults(browser, file, view);
      count += found.length;
      console.log(`${file}, ${view.name}: ${found.length === 0 ? 'nothing wrong' : found.join('\n  ')}`);
    }
  }
  await browser.close();
  process.exit(count === 0 ? 0 : 1);
}

main(process.argv.slice(2));
