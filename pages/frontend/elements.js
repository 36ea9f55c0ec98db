// What every view is built of. Every string becomes a text node: no markup is parsed.

// A key as a hint says it.
const hint = (key) => ` (${key})`;

function el(tag, className, text, attributes) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined && text !== null) node.textContent = text;
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : value);
  }
  return node;
}
