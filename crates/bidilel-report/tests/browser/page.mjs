// Opens report pages in Chromium and checks what only a browser can tell. `run.sh` makes the pages.
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const HOSTILE = "</script><script>document.title='broken'</script><b>\"&'";

/** A run of so many classes, one of them with a hostile name, so far from the middle, and 10,000 points. */
function makeLarge(from, to, classCount, reach) {
  const run = JSON.parse(readFileSync(from, "utf8"));
  // A few classes have the shortest names.
  const name = (i) => (Number(classCount) > 10 ? `class ${i}` : String(i));
  const classes = Array.from({ length: Number(classCount) }, (_, i) => (i === 0 && Number(classCount) > 10 ? HOSTILE : name(i)));
  const count = 10_000;
  const data = run.run_data;
  const around = (index, radius) => [radius * Math.cos(index), radius * Math.sin(index * 1.3)];
  Object.assign(data, {
    unseen: classes, candidates: classes, test_instances: 11_788, names: [], pictures: [],
    instances: Array.from({ length: count }, (_, i) => i),
    truth: Array.from({ length: count }, (_, i) => i % classes.length),
    guesses: Array.from({ length: count }, (_, i) => [(i * 7) % classes.length, 1, 2]),
  });
  data.map.points = Array.from({ length: count }, (_, i) => around(i, 0.2 + (i % 97) / 97));
  data.map.embeddings = classes.map((_, i) => around(i, Number(reach)));
  run.runs[0].unseen = classes;
  run.runs[0].confusion = classes.map((_, i) => classes.map((_, j) => (i === j ? 30 : (i * 31 + j * 17) % 23 === 0 ? 2 : 0)));
  run.classes = classes.map((name) => ({ name, instances: 50, accuracy: 0.5, mistaken_for: null }));
  writeFileSync(to, JSON.stringify(run));
}

function expect(holds, what) {
  if (!holds) throw new Error(what);
  console.log(`  ${what}`);
}

/** Opens a page and fails at anything that it logs or asks the network for. */
async function opened(browser, file, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => /^(file|data):/.test(request.url()) || complaints.push(`asks for ${request.url()}`));
  const began = Date.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => [...document.querySelectorAll("canvas[data-map]")].every((map) => map.dataset.drawn));
  return { page, complaints, milliseconds: Date.now() - began, close: () => context.close() };
}

/** Visible texts, HTML and SVG, that stand out too little from what is behind them, by WCAG; and how many texts were looked at. */
const faint = (page, within = "body") => page.evaluate((within) => {
  const rgba = (color) => {
    const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const over = ([r, g, b, a], behind) => [r, g, b].map((v, i) => a * v + (1 - a) * behind[i]);
  const luminance = (color) => color.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const background = (element) => {
    if (!element) return [255, 255, 255];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, background(element.parentElement));
  };
  const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
  const texts = [...document.querySelectorAll(`${within}, ${within} *`)].filter((element) => hasText(element)
    && element.getClientRects().length && !["SCRIPT", "STYLE", "TITLE", "DESC", "OPTION"].includes(element.tagName.toUpperCase()));
  const found = texts.map((element) => {
    const style = getComputedStyle(element);
    const paint = rgba(element instanceof SVGElement ? style.fill : style.color);
    paint[3] *= element instanceof SVGElement ? Number(style.fillOpacity) * Number(style.opacity) : Number(style.opacity);
    const behind = background(element);
    const both = [luminance(over(paint, behind)), luminance(behind)].sort((a, b) => b - a);
    // The keys of colors are words beside marks of the same color.
    const least = element.matches(".key:not(.hues) span") ? 3 : 4.5;
    return [(both[0] + 0.05) / (both[1] + 0.05), least, `${element.tagName} "${element.textContent.trim().slice(0, 30)}"`];
  });
  const low = found.filter(([ratio, least]) => !(ratio >= least)).map(([ratio, , what]) => `${what} has ${ratio.toFixed(2)}`);
  return { count: found.length, svg: texts.filter((element) => element instanceof SVGElement).length, low };
}, within);

/** How many canvases have names, and how many have them in the color of the page's text. */
const inked = (page) => page.$$eval("canvas", (all) => {
  const color = getComputedStyle(document.documentElement).getPropertyValue("--ink").trim();
  const ink = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const named = all.filter((canvas) => Number(canvas.dataset.named) > 0);
  const right = named.filter((canvas) => {
    // A copy: Chromium complains where a canvas itself is read more than once.
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 250 && ink.every((value, channel) => Math.abs(data[at + channel] - value) <= 8)) count += 1;
    }
    return count > 50;
  });
  return { named: named.length, right: right.length };
});

async function check(folder, shots) {
  const { chromium } = await import("playwright-core");
  const browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  try {
    for (const name of ["demo", "all", "large", "heap", "short", "generalized", "open", "tune", "compare", "sides", "select"]) {
      for (const colorScheme of ["light", "dark"]) {
        for (const width of [1400, 400]) {
          const one = await opened(browser, join(folder, `${name}.html`), { colorScheme, viewport: { width, height: 900 } });
          const { page, complaints } = one;
          console.log(`${name}, ${colorScheme}, ${width} pixels wide`);
          expect(one.milliseconds < 5000, `drawn within ${one.milliseconds} ms`);
          const bytes = statSync(join(folder, `${name}.html`)).size;
          expect(bytes < 5e6, `${bytes} bytes`);
          expect((await page.$$("canvas[data-map]")).length > 0 === !["tune", "compare", "sides", "select"].includes(name), "a map where there are points");
          for (const canvas of await page.$$("canvas")) {
            const inked = await canvas.evaluate((canvas) => {
              const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
              return data.filter((value, index) => index % 4 === 3 && value > 0).length;
            });
            const marks = await canvas.evaluate((canvas) => canvas.dataset.drawn && Number(canvas.dataset.drawn));
            if (!(inked > 2000) || marks < 50) throw new Error(`a canvas has ${inked} inked pixels, ${marks} marks`);
          }
          if (name === "heap" && width === 1400) {
            const named = await page.$eval("canvas[data-map]", (canvas) => canvas.dataset.named);
            expect(named === "50", `classes that lie on a heap have their names beside the map: ${named}`);
          }
          const parts = await page.$$eval("main section, main figure.chart svg", (all) => all.filter((one) => one.getBoundingClientRect().height < 40).length);
          expect(parts === 0, "no section and no chart is empty");
          expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing is wider than the window");
          const small = await page.evaluate(() => [...document.querySelectorAll("body *")]
            .filter((e) => e.childNodes.length && [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) && e.getClientRects().length && !["SCRIPT", "STYLE"].includes(e.tagName))
            .map((e) => [e.tagName, e instanceof SVGElement ? (parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a) : parseFloat(getComputedStyle(e).fontSize)])
            .filter(([, size]) => size < 13.9).map(String).slice(0, 3));
          expect(small.length === 0, `no text is below 14 pixels ${small}`);
          const { count, svg, low } = await faint(page);
          expect(low.length === 0, `all ${count} texts, ${svg} of them in charts, stand out from what is behind them: ${low.slice(0, 3)}`);
          expect(count > 20 && svg > 0 === !["compare", "sides"].includes(name), "charts have texts");
          const { named, right } = await inked(page);
          expect(right === named, `names on ${right} of ${named} canvases have the color of the page's text`);
          await page.screenshot({ path: join(shots, `${name}-${colorScheme}-${width}.png`), fullPage: true });
          expect(complaints.length === 0, `no complaint ${complaints}`);
          await one.close();
        }
      }
    }
    await hover(browser, folder, shots);
  } finally {
    await browser.close();
  }
}

/** What happens under the pointer and the keys. */
async function hover(browser, folder, shots) {
  const { page, complaints, close } = await opened(browser, join(folder, "demo.html"), { viewport: { width: 1400, height: 900 } });
  const tip = () => page.$eval("#tip", (element) => (element.hidden ? "" : element.innerText));
  const sweep = async (selector, until) => {
    const canvas = await page.$(selector);
    await canvas.scrollIntoViewIfNeeded();
    const box = await canvas.boundingBox();
    for (let y = 0.1; y < 0.95; y += 0.06) {
      for (let x = 0.1; x < 0.95; x += 0.04) {
        await page.mouse.move(box.x + x * box.width, box.y + y * box.height);
        if (await until()) return true;
      }
    }
    return false;
  };
  const names = await page.evaluate(() => JSON.parse(document.getElementById("data").textContent).maps[0].unseen);
  const named = async () => names.some((name) => tipText.includes(name));
  let tipText = "";
  expect(await sweep("canvas[data-map]", async () => ((tipText = await tip()), (await page.$("#tip:not([hidden]) img")) && named())), `hovering over the map shows a picture and its class: ${tipText.replaceAll("\n", "; ")}`);
  for (const colorScheme of ["dark", "light"]) {
    await page.emulateMedia({ colorScheme });
    const { count, low } = await faint(page, "#tip");
    expect(count > 1 && low.length === 0, `what the pointer shows stands out, ${colorScheme}: ${low}`);
    await page.screenshot({ path: join(shots, `hover-map-${colorScheme}.png`) });
  }
  const current = await page.$eval("nav a[aria-current]", (link) => link.textContent);
  expect(current === "Map of the latent space", `the contents say what is in sight: ${current}`);
  expect(await sweep("canvas[data-confusion]", async () => ((tipText = await tip()), /\d+ of \d+/.test(tipText) && named())), `hovering over the matrix tells its cell: ${tipText.replaceAll("\n", "; ")}`);
  await page.screenshot({ path: join(shots, "hover-confusion.png") });

  await page.focus("canvas[data-map]");
  await page.keyboard.press("ArrowRight");
  const first = await page.$eval(".map .live", (live) => live.textContent);
  await page.keyboard.press("ArrowRight");
  const second = await page.$eval(".map .live", (live) => live.textContent);
  expect(first !== "" && second !== first, `arrow keys move over the map: ${first} | ${second}`);

  const table = page.locator("table.sortable", { hasText: "most often taken for" }).first();
  const rows = () => table.locator("tbody tr th").allTextContents();
  const before = await rows();
  await table.locator("thead button").first().click();
  const after = await rows();
  const sorted = [...after].sort(new Intl.Collator(undefined, { numeric: true }).compare);
  expect(before.join() !== after.join() && after.join() === sorted.join(), "a header sorts its table");

  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await page.click("#theme");
  expect((await paper()) !== light, "the switch changes the colors");
  const { named: canvases, right } = await inked(page);
  expect(canvases === 2 && right === 2 && (await faint(page)).low.length === 0, "all of them: the map and the matrix are drawn again");
  await page.emulateMedia({ media: "print" });
  expect((await page.$eval("nav", (nav) => getComputedStyle(nav).display)) === "none", "the contents are not printed");
  const cut = await page.$$eval(".scroll", (all) => all.filter((one) => one.scrollHeight > one.clientHeight + 2).length);
  expect(cut === 0, "no table is cut on paper");
  const buttons = await page.$$eval("thead button", (all) => all.filter((one) => getComputedStyle(one).display !== "contents").length);
  expect(buttons === 0, "headers are text on paper: a browser repeats no buttons where a table goes on");
  expect(complaints.length === 0, `no complaint ${complaints}`);
  await close();

  const hostile = await opened(browser, join(folder, "large.html"), { viewport: { width: 1400, height: 900 } });
  expect((await hostile.page.title()) !== "broken" && (await hostile.page.$$("main b b")).length === 0, "a name that is HTML is text");
  await hostile.close();
}

const [mode, ...rest] = process.argv.slice(2);
if (mode === "make-large") makeLarge(...rest);
else await check(...rest);
