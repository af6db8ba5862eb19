/** Messages that name a field without quotes around it. */
export const BARE_LABELS = { errors: { wrap: { label: false } } } as const;

/** Options for JSON, which has its own types, so that nothing is converted. */
export const JSON_VALIDATION = { ...BARE_LABELS, convert: false } as const;
