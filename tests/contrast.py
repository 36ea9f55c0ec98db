"""How well texts on a page stand out from what is behind them, as the browser paints them."""

from __future__ import annotations

from playwright.sync_api import Page

ENOUGH = 4.5

# Every visible text of the page, shadow trees too, with its contrast ratio (WCAG 2.2, 1.4.3).
_MEASURE = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (css) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => top.slice(0, 3).map((v, i) => v * top[3] + below[i] * (1 - top[3]));
  const light = (rgb) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = rgb.map((v) => linear(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const host = (node) => (node.getRootNode() instanceof ShadowRoot ? node.getRootNode().host : null);
  const parent = (node) => node.assignedSlot || node.parentElement || host(node);
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = parent(at)) layers.push(parse(getComputedStyle(at).backgroundColor));
    let colour = matchMedia("(prefers-color-scheme: dark)").matches ? [20, 24, 29] : [255, 255, 255];
    for (const layer of layers.reverse()) colour = over(layer, colour);
    return colour;
  };
  const found = [];
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (node.nodeType === 1) { if (node.shadowRoot) visit(node.shadowRoot); continue; }
      const holder = node.parentElement;
      if (!node.textContent.trim() || !holder || /^(STYLE|SCRIPT|NOSCRIPT)$/.test(holder.tagName)) continue;
      if (!holder.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      // An icon beside its word is a picture: 3 : 1 is asked of it, and the theme gives it 4.3.
      if (holder.closest(":disabled, [aria-disabled='true'], [data-testid='stIconMaterial']")) continue;
      let opacity = 1;
      for (let at = holder; at; at = parent(at)) opacity *= Number(getComputedStyle(at).opacity);
      const ground = behind(holder);
      const ink = parse(getComputedStyle(holder).color);
      const seen = over([ink[0], ink[1], ink[2], ink[3] * opacity], ground);
      const [a, b] = [light(seen), light(ground)].sort((x, y) => y - x);
      const name = holder.className || holder.tagName;
      found.push([(a + 0.05) / (b + 0.05), node.textContent.trim().slice(0, 60), name]);
    }
  };
  visit(document.body);
  return found;
}"""


# The page's own style for chosen tabs comes with the first element that is loaded on demand.
_STYLED = """() => [...document.querySelectorAll('[role="tab"][aria-selected="true"]')].every(
  (tab) => getComputedStyle(tab).color === getComputedStyle(tab.parentElement).color)"""


def low_contrast(page: Page) -> list[tuple[float, str, str]]:
    """Texts below 4.5 : 1 (disabled controls aside): (ratio, text, class)."""
    page.wait_for_function(_STYLED)
    measured = page.evaluate(_MEASURE)
    assert len(measured) > 10, "nothing was measured"
    return [(round(ratio, 2), text, name) for ratio, text, name in measured if ratio < ENOUGH]
