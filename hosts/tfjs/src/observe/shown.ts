// Text for people. Names come from programs: what a terminal would obey is written out, as the tool `ebb` does.

// eslint-disable-next-line no-control-regex -- they are what is looked for
const OBEYED = /[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

export function shown(text: string): string {
  return text.replace(OBEYED, (found) => {
    const code = found.charCodeAt(0);
    if (found === '\n') return '\\n';
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB'];

/** "4.1 MB", as the core writes it. */
export function amount(bytes: number): string {
  let unit = 0;
  let value = Math.max(0, bytes);
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}
