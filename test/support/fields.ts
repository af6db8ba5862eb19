/** The rule of a field in the tables of the specification. */
export type FieldRule =
  | { kind: 'text'; min?: number; max?: number }
  | { kind: 'integer'; min: number; max?: number }
  | { kind: 'positive' }
  | { kind: 'enum'; values: readonly string[] }
  | { kind: 'boolean' }
  | { kind: 'uuid' }
  | { kind: 'uuids' }
  | { kind: 'url' }
  | { kind: 'date-time' };

/** Values with labels, since 100 letters make a poor message. */
export type Samples = Readonly<Record<string, unknown>>;

const NOT_A_STRING: Samples = {
  integer: 7,
  zero: 0,
  float: 1.5,
  true: true,
  false: false,
  'empty list': [],
  'list of a string': ['low'],
  'empty object': {},
  'operator object': { $gt: '' },
};

const NOT_A_LIST: Samples = {
  integer: 7,
  true: true,
  'empty string': '',
  word: 'fern',
  'a UUID alone': '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e',
  'empty object': {},
  'object like a list': { 0: '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e', length: 1 },
};

const NOT_A_NUMBER: Samples = {
  'digits in a string': '7',
  'empty string': '',
  word: 'seven',
  true: true,
  false: false,
  'empty list': [],
  'list of a number': [7],
  'empty object': {},
};

const NOT_A_BOOLEAN: Samples = {
  zero: 0,
  one: 1,
  'the string true': 'true',
  'the string false': 'false',
  'empty string': '',
  yes: 'yes',
  'empty list': [],
  'list of true': [true],
  'empty object': {},
};

const NOT_A_UUID: Samples = {
  'empty string': '',
  word: 'fern',
  'without dashes': '0192f0c17b7e7c5a8d3b2f4e6a8c0d1e',
  'in braces': '{0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e}',
  'as a URN': 'urn:uuid:0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e',
  'one character short': '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1',
  'one character long': '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e0',
  'not hexadecimal': '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0dzz',
  'with a space': ' 0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e',
  'with a line break': '0192f0c1-7b7e-7c5a-8d3b-2f4e6a8c0d1e\n',
};

/** Values that the rule refuses. */
export function refusedBy(rule: FieldRule): Samples {
  switch (rule.kind) {
    case 'text':
      return { ...NOT_A_STRING, ...badText(rule) };
    case 'integer':
      return {
        ...NOT_A_NUMBER,
        'not whole': rule.min + 0.5,
        'one too small': rule.min - 1,
        ...(rule.max === undefined ? {} : { 'one too large': rule.max + 1 }),
      };
    case 'positive':
      return { ...NOT_A_NUMBER, zero: 0, 'less than zero': -0.000001 };
    case 'enum':
      return {
        ...NOT_A_STRING,
        'empty string': '',
        'unknown word': 'sideways',
        'upper case': rule.values[0]?.toUpperCase(),
        'with a space': `${rule.values[0] ?? ''} `,
      };
    case 'boolean':
      return NOT_A_BOOLEAN;
    case 'uuid':
      return { ...NOT_A_STRING, ...NOT_A_UUID };
    case 'uuids':
      return {
        ...NOT_A_LIST,
        'list of null': [null],
        'list of a number': [7],
        'list of a list': [[]],
        ...inLists(NOT_A_UUID),
      };
    case 'url':
      return { ...NOT_A_STRING, ...BAD_URLS };
    case 'date-time':
      return { ...NOT_A_STRING, 'empty string': '', word: 'now', 'date alone': '2026-03-01' };
  }
}

/** Values that the rule accepts; responses contain them unchanged. */
export function acceptedBy(rule: FieldRule): Samples {
  switch (rule.kind) {
    case 'text':
      return goodText(rule);
    case 'integer':
      return {
        smallest: rule.min,
        'one more': rule.min + 1,
        ...(rule.max === undefined
          ? { 'beyond 32 bits': 2 ** 33 }
          : { 'one less': rule.max - 1, largest: rule.max }),
      };
    case 'positive':
      return {
        tiny: 5e-324,
        fraction: 0.1,
        'many digits': 0.30000000000000004,
        whole: 12,
        huge: 1e300,
      };
    case 'enum':
      return Object.fromEntries(rule.values.map((value) => [value, value]));
    case 'boolean':
      return { true: true, false: false };
    case 'url':
      return {
        https: 'https://images.example.com/v1/fern.jpg',
        http: 'http://images.example.com/fern.jpg',
        'with port, query and fragment': 'https://images.example.com:8443/a%20b?x=1&y=%C3%A9#top',
        'of a scheme in capitals': 'HTTPS://Images.Example.COM/Fern.JPG',
        'of an IPv4 address': 'http://192.0.2.7/fern.jpg',
        'of an IPv6 address': 'https://[2001:db8::1]:8443/fern.jpg',
        'without a path': 'https://images.example.com?fern',
        'with a user': 'https://ada@images.example.com/fern.jpg',
        'with every other sign': "https://images.example.com/-._~!$&'()*+,;=:@//?/?#/?",
        'of 2,048 characters': `https://images.example.com/${'a'.repeat(2021)}`,
      };
    case 'uuid':
    case 'uuids':
    case 'date-time':
      return {}; // They have tests of their own: they depend on records, or are converted.
  }
}

const BAD_URLS: Samples = {
  'empty string': '',
  'without a scheme': 'images.example.com/fern.jpg',
  'without a host': 'https://',
  'relative path': '/fern.jpg',
  ftp: 'ftp://images.example.com/fern.jpg',
  javascript: 'javascript:alert(1)',
  data: 'data:image/png;base64,AAAA',
  file: 'file:///etc/passwd',
  'with a space': 'https://images.example.com/a fern.jpg',
  'with a percent sign that encodes nothing': 'https://x.y/%zz',
  'with half an encoded byte': 'https://images.example.com/fern.jpg%2',
  'with a bare percent sign in its query': 'https://images.example.com/?size=100%',
  'with a letter outside ASCII': 'https://images.example.com/fougère.jpg',
  'with a backslash': 'https://images.example.com\\fern.jpg',
  'with angle brackets': 'https://images.example.com/<fern>.jpg',
  'with square brackets in its path': 'https://images.example.com/[fern].jpg',
  'with two fragments': 'https://images.example.com/fern.jpg#a#b',
  'with a port and no host': 'https://:8443/fern.jpg',
  'with a port that is a word': 'https://images.example.com:https/fern.jpg',
  'with half an IPv6 address': 'https://[2001:db8::zz]/fern.jpg',
  'with a bare IPv6 address': 'https://2001:db8::1/fern.jpg',
  'with a line break': 'https://images.example.com/fern.jpg\n',
  'longer than 2,048 characters': `https://images.example.com/${'a'.repeat(2022)}`,
};

function badText({ min, max }: { min?: number; max?: number }): Samples {
  return {
    'with NUL': 'a\0b',
    ...(min === undefined ? {} : { 'empty string': '' }),
    ...(max === undefined
      ? {}
      : {
          'one letter too long': 'a'.repeat(max + 1),
          // Half as many characters as code units: only a count of code units refuses it.
          'one code unit too long': `${'🌱'.repeat(max / 2)}a`,
        }),
  };
}

function goodText({ min, max }: { min?: number; max?: number }): Samples {
  return {
    ...(min === undefined ? { 'empty string': '' } : {}),
    'one letter': 'a',
    'spaces around': '  fern  ',
    'spaces alone': ' ',
    'line breaks': 'a\r\nb\tc',
    'not normalized': 'e\u0301 and \u00e9',
    'what looks like an operator': '$where',
    'markup and quotes': '<b>"fern" \\ \'oak\'</b>',
    'byte order mark': '\ufeffa',
    ...(max === undefined
      ? {}
      : {
          'as long as can be': 'a'.repeat(max),
          'as many astral characters as can be': '🌱'.repeat(max / 2),
          'as long as can be, in three bytes each': '木'.repeat(max),
        }),
  };
}

function inLists(samples: Samples): Samples {
  return Object.fromEntries(
    Object.entries(samples).map(([label, value]) => [`list of: ${label}`, [value]]),
  );
}
